# SPDX-License-Identifier: Apache-2.0
# Makes garbage and has it collected for half a second of CPU time, while another thread waits again and
# again. Writes the share of CPU time that Ruby itself has counted for garbage collection.

def churn
  100.times.map { |i| ['x' * 50, i.to_s] }
end

def collect
  GC.start
end

def waits
  loop { IO.select(nil, nil, nil, 0.0005) }
end

def used
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end

def work
  began, counted = used, GC.stat(:time)
  while used - began < 0.5
    40.times { churn }
    collect
  end
  puts((GC.stat(:time) - counted) / 1e3 / (used - began))
end

def warm_up
  began = used
  churn until used - began > 0.2
end

$kept = Array.new(100_000) { |i| i.to_s }
Thread.new { waits }
warm_up
work
