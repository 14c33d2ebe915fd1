-- SPDX-License-Identifier: Apache-2.0
-- What iobytes, iobytes_net and iobytes_file have in common: require "bytesums"(FILTER), "" for all. A line for each
-- second, or as many as the person says; of a capture, only for those in which something was read or
-- written; and the sum of all.
local report = require "report"

local values = {{field = "evt.io.read_bytes"}, {field = "evt.io.write_bytes"}, {count = true}}

local columns = {
  {title = "TIME", name = "time", width = 8},
  {title = "READ", name = "read", kind = "bytes", width = 8},
  {title = "WRITTEN", name = "written", kind = "bytes", width = 8},
  {title = "TOTAL", name = "bytes", kind = "bytes", width = 8},
  {title = "CALLS", name = "calls", kind = "number", width = 8},
}

return function(filter)
  local arg = report.args {
    {name = "interval", argtype = "int", default = 1, check = report.whole(1),
     description = "seconds that a line is about (1)"},
  }
  local counter, put
  local all, n_lines = {0, 0, 0}, 0 -- bytes read and written; calls
  local since -- second that the interval began with

  function on_init()
    counter = chisel.counter({}, values)
    -- Of two files a filter may mean one.
    if filter ~= "" then chisel.each_end() end
    chisel.set_filter((filter ~= "" and filter .. " and " or "") .. "evt.io.bytes>0")
    chisel.set_interval_s(arg.interval)
    put = report.stream(columns)
    return true
  end

  local function line(what, sum)
    local read, written, calls = table.unpack(sum)
    put {what, read, written, read + written, calls}
  end

  local function take_sums()
    local row, sums = counter:rows()[1] or {}, {}
    for i = 1, #all do
      sums[i] = row[i] or 0
      all[i] = all[i] + sums[i]
    end
    counter:clear()
    return sums
  end

  local function close_interval(s)
    since = since or tonumber(sysdig.get_firstevent_ts()) // 1000000000
    local sums = take_sums()
    if sums[3] > 0 or sysdig.is_live() then
      line(report.is_json() and since * 1000000000 or os.date("%H:%M:%S", since), sums)
      n_lines = n_lines + 1
    end
    since = s - s % arg.interval
  end

  function on_interval(s)
    close_interval(s)
    return true
  end

  function on_capture_end(s)
    close_interval(s)
    if n_lines ~= 1 and not report.is_json() then line("all", all) end
  end
end
