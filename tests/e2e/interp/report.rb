# SPDX-License-Identifier: Apache-2.0
# Makes reports of a log for some seconds of CPU time: report.rb SECONDS.
class Report
  LOG = (0...2000).map { |i| format('10.0.0.%d GET /page/%d %d', i % 50, i % 17, i * 37 % 900) }.freeze

  def parse(line)
    line.match(/(\S+) (\w+) (\S+) (\d+)/).captures
  end

  def count
    LOG.each_with_object({}) do |line, pages|
      _, _, page, ms = parse(line)
      row = pages[page] ||= [0, 0]
      row[0] += 1
      row[1] += ms.to_i
    end
  end

  def mean(row)
    row[1].to_f / row[0]
  end

  def slowest_first(pages)
    rows = []
    100.times { rows = pages.sort_by { |_, row| -mean(row) } }
    rows
  end

  def render(rows)
    text = +''
    30.times do
      rows.each { |page, (calls, total)| text << "<tr><td>#{page}</td><td>#{calls}</td><td>#{total}</td></tr>" }
    end
    text
  end

  def make
    render(slowest_first(count))
  end
end

report = Report.new
report.make while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < ARGV[0].to_f
