-- SPDX-License-Identifier: Apache-2.0
-- What iobytes, iobytes_net and iobytes_file have in common: require "bytesums"(FILTER). A line for each
-- second, or as many as the person says; of a capture, only for those in which something was read or
-- written; and the sum of all.
local report = require "report"

local function counter() return {read = 0, written = 0, calls = 0} end

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
  local result, is_read, put
  local now, all, n_lines = counter(), counter(), 0
  local since -- second that the interval began with

  function on_init()
    result, is_read = chisel.request_field("evt.rawres"), chisel.request_field("evt.is_io_read")
    chisel.set_filter(filter .. " and evt.dir=< and evt.rawres>0")
    chisel.set_interval_s(arg.interval)
    put = report.stream(columns)
    return true
  end

  local field = evt.field
  function on_event()
    local to = field(is_read) and "read" or "written"
    now[to] = now[to] + field(result)
    now.calls = now.calls + 1
    return true
  end

  local function line(what, sum)
    put {what, sum.read, sum.written, sum.read + sum.written, sum.calls}
  end

  local function close_interval(s)
    since = since or tonumber(sysdig.get_firstevent_ts()) // 1000000000
    if now.calls > 0 or sysdig.is_live() then
      line(report.is_json() and since * 1000000000 or os.date("%H:%M:%S", since), now)
      n_lines = n_lines + 1
    end
    for name, n in pairs(now) do all[name] = all[name] + n end
    now, since = counter(), s - s % arg.interval
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
