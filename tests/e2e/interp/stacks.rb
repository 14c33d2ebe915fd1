# SPDX-License-Identifier: Apache-2.0
# Calls Ruby methods and blocks in random order and depth, also through C. At each end it writes the
# stack that Ruby itself has to a file, as JSON, and waits. Arguments: the file, the number of stacks,
# the seed, a file: it begins when that is there; and stacks_c.c, if calls shall go through its methods.

require 'json'

path, left, seed, $start, library = ARGV
$left = left.to_i
$out = File.open(path, 'w')
$random = Random.new(seed.to_i)

# Methods in C that call back: frames of Ruby's backtrace, but native ones for saker.
IN_C = %w[each map sort_by gsub inject each_with_index instance_eval send call to_s eval load new initialize
          method_missing c_call c_deep c_yield c_rescue].freeze

def in_c?(location)
  IN_C.include?(location.label) && !LINES_OF_SOME.cover?(location.lineno)
end

def record(line)
  frames = [['nap', line]]
  caller_locations(2).each do |l|
    frames << [l.label, l.lineno] unless in_c?(l)
  end
  $out.puts(JSON.generate(frames))
  $left -= 1
end

def nap
  record(__LINE__); IO.select(nil, nil, nil, 0.0002)
end

first_line = __LINE__
class Some
  def initialize(n)
    @n = n
  end

  def self.by_class(n)
    some = new(n)
    some.by_instance
  end

  def by_instance
    go(@n)
  end

  def method_missing(name, n)
    return super unless name == :unknown
    go(n)
  end

  def respond_to_missing?(name, all = false)
    name == :unknown || super
  end

  def to_s
    go(@n)
    'text'
  end

  def each
    go(@n)
    yield 1
  end

  include Enumerable

  define_method(:defined_by_block) { |n| go(n) }
end
LINES_OF_SOME = (first_line..__LINE__).freeze # its methods have names that methods in C have, too

def plain(n)
  go(n)
end

def by_class(n)
  Some.by_class(n)
end

def in_block(n)
  [n].each { |k| go(k) }
end

def in_nested_blocks(n)
  [n].map do |k|
    [k].each_with_index do |v, _|
      go(v)
    end
  end
end

def yields(n)
  yield n
end

def in_own_block(n)
  yields(n) { |k| go(k) }
end

def in_lambda(n)
  ->(k) { go(k) }.call(n)
end

def sorted(n)
  [2].sort_by { |_| go(n) }
end

def replaced(n)
  'x'.gsub('x') { |_| go(n); 'y' }
end

def injected(n)
  [1, 2].inject { |_, _| go(n) }
end

def sent(n)
  send(:plain, n)
end

def missing(n)
  Some.new(n).unknown(n)
end

def interpolated(n)
  "#{Some.new(n)}"
end

def enumerated(n)
  Some.new(n).map { |v| v }
end

def from_block(n)
  Some.new(n).defined_by_block(n)
end

def rescued(n)
  raise 'expected'
rescue StandardError
  go(n)
end

def ensured(n)
  1
ensure
  go(n)
end

def in_text(n)
  eval('go(n)')
end

def in_file(n)
  $n = n
  load File.join(__dir__, 'included.rb')
end

def evaluated(n)
  Some.new(n).instance_eval { go(@n) }
end

def as_method(n)
  method(:plain).call(n)
end

class Integer
  def go_on
    go(self)
  end
end

def in_c(n)
  c_call(n)
end

def deep_in_c(n)
  c_deep(n)
end

def block_in_c(n)
  c_yield(n) { |k| go(k) }
end

def rescued_in_c(n)
  c_rescue(n)
end

calls = %i[plain by_class in_block in_nested_blocks in_own_block in_lambda sorted replaced injected sent missing
           interpolated enumerated from_block rescued ensured in_text in_file evaluated as_method]
if library
  require library
  calls += %i[in_c deep_in_c block_in_c rescued_in_c]
end
CALLS = calls.freeze

def go(n)
  if n <= 0
    nap
  else
    __send__(CALLS[$random.rand(CALLS.size)], n - 1)
  end
  1
end

def warm_up
  IO.select(nil, nil, nil, 0.01)
end

warm_up until File.exist?($start)
go($random.rand(16)) while $left > 0
$out.close
