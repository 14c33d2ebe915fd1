-- SPDX-License-Identifier: Apache-2.0
-- Makes reports of a log for some seconds of CPU time: report.lua SECONDS.
local log = {}
for i = 1, 2000 do
  log[i] = ("10.0.0.%d GET /page/%d %d"):format(i % 50, i % 17, i * 37 % 900)
end

local function parse(line)
  local ip, method, page, ms = line:match("(%S+) (%w+) (%S+) (%d+)")
  return ip, method, page, ms
end

local function count(lines)
  local pages = {}
  for _, line in ipairs(lines) do
    local _, _, page, ms = parse(line)
    local row = pages[page] or {page = page, calls = 0, total = 0}
    row.calls, row.total = row.calls + 1, row.total + tonumber(ms)
    pages[page] = row
  end
  return pages
end

local function mean(row)
  local m = row.total / row.calls
  return m
end

local function slowest_first(pages)
  local rows = {}
  for _, row in pairs(pages) do rows[#rows + 1] = row end
  for _ = 1, 100 do
    table.sort(rows, function(a, b) local less = mean(a) > mean(b) return less end)
  end
  return rows
end

local function render(rows)
  local text = {}
  for _ = 1, 30 do
    for _, row in ipairs(rows) do
      text[#text + 1] = ("<tr><td>%s</td><td>%d</td><td>%d</td></tr>"):format(row.page, row.calls, row.total)
    end
  end
  return table.concat(text)
end

local function report()
  local pages = count(log)
  local rows = slowest_first(pages)
  local text = render(rows)
  return text
end

while os.clock() < tonumber(arg[1]) do report() end
