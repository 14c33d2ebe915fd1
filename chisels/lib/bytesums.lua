-- SPDX-License-Identifier: Apache-2.0
-- Sums of bytes read and written, one line per interval and one of all, for iobytes, iobytes_net and
-- iobytes_file: require "bytesums"(FILTER), which sets the callbacks. FILTER "": all files.
local report = require "report"

local values = {{field = "evt.io.read_bytes"}, {field = "evt.io.write_bytes"}, {count = true}}

local columns = {
  {title = "TIME", name = "time", width = 8},
  {title = "READ", name = "read", kind = "bytes", width = 8},
  {title = "WRITTEN", name = "written", kind = "bytes", width = 8},
  {title = "TOTAL", name = "bytes", kind = "bytes", width = 8},
  {title = "CALLS", name = "calls", kind = "number", width = 8},
}

local Sums = {}
Sums.__index = Sums

function Sums:init()
  self.counter = chisel.counter({}, values)
  -- A copy has a file on either end, of which the filter may match one only.
  if self.filter ~= "" then chisel.each_end() end
  chisel.set_filter((self.filter ~= "" and self.filter .. " and " or "") .. "evt.io.bytes>0")
  chisel.set_interval_s(self.arg.interval)
  self.put = report.stream(columns)
end

function Sums:put_line(what, sum)
  local read, written, calls = table.unpack(sum)
  self.put {what, read, written, read + written, calls}
end

-- Returns the sums of the interval, adds them to those of the capture, and starts from 0.
function Sums:take_sums()
  local row, sums, all = self.counter:rows()[1] or {}, {}, self.all
  for i = 1, #all do
    sums[i] = row[i] or 0
    all[i] = all[i] + sums[i]
  end
  self.counter:clear()
  return sums
end

-- s: the time, in seconds. A capture file has no line for an interval without reads and writes.
function Sums:end_interval(s)
  local since = self.since or tonumber(sysdig.get_firstevent_ts()) // 1000000000
  local sums = self:take_sums()
  if sums[3] > 0 or sysdig.is_live() then
    self:put_line(report.is_json() and since * 1000000000 or os.date("%H:%M:%S", since), sums)
    self.n_lines = self.n_lines + 1
  end
  self.since = s - s % self.arg.interval
end

return function(filter)
  local arg = report.args {
    {name = "interval", argtype = "int", default = 1, check = report.whole(1),
     description = "seconds per line (1)"},
  }
  -- all: bytes read and written, and calls, of the capture; since: the second in which the interval began
  local sums = setmetatable({filter = filter, arg = arg, all = {0, 0, 0}, n_lines = 0, since = nil}, Sums)

  function on_init()
    sums:init()
    return true
  end

  function on_interval(s)
    sums:end_interval(s)
    return true
  end

  function on_capture_end(s)
    sums:end_interval(s)
    if sums.n_lines ~= 1 and not report.is_json() then sums:put_line("all", sums.all) end
  end
end
