# SPDX-License-Identifier: Apache-2.0
# A loop below many Ruby methods: deep.rb FUNCTIONS SECONDS.
def spin(ends)
  n = 0
  while Process.clock_gettime(Process::CLOCK_MONOTONIC) < ends
    i = 0
    while i < 10_000
      n += i % 3
      i += 1
    end
  end
end

def down(n, ends)
  if n.zero?
    spin(ends)
  else
    down(n - 1, ends)
  end
  n
end

down(ARGV[0].to_i, Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[1].to_f)
