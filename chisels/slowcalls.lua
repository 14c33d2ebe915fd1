-- SPDX-License-Identifier: Apache-2.0
-- What fileslower, netlower and scallslower have in common: require "slowcalls", then
-- slowcalls(FILTER, TITLE, FIELD), with what the last column shows. A call whose beginning was not
-- seen has no latency: it is shown only by those who ask for all calls.
local report = require "report"

-- Results that are no failures: to be tried again, by the program or by the kernel itself.
local waits = {ok = true, EAGAIN = true, EINPROGRESS = true, ERESTARTSYS = true, ERESTARTNOINTR = true,
               ERESTARTNOHAND = true, ERESTART_RESTARTBLOCK = true}

-- In files of other tools it is 0 where the beginning was not seen.
local function known(ns) return ns ~= 0 and ns or nil end

-- How much was read or written, or the error.
local failed, errname, bytes

local function result(res)
  if res == nil then return nil end
  if evt.field(failed) then return evt.field(errname) or res end
  return bytes and res or "ok"
end

return function(filter, title, name, counts_bytes)
  bytes = counts_bytes
  require "eventlog" {
    args = {{name = "min_ms", argtype = "number", default = 10, check = report.milliseconds,
             description = "Calls that took so many milliseconds or longer (10); 0: all"}},
    init = function()
      failed, errname = chisel.request_field("evt.failed"), chisel.request_field("evt.res")
    end,
    columns = {
      {"TIME", "evt.rawtime", name = "time", kind = "clock", width = 12},
      {"LATENCY", "evt.latency", kind = "time", width = 8, of = known},
      {"PID", "proc.pid", kind = "number", width = 7},
      {"PROCESS", "proc.name", width = 15},
      {"CALL", "evt.type", width = 10},
      {"RESULT", "evt.rawres", name = "result", kind = "result", of = result, width = 11},
      {title, name},
    },
    filter = function(arg)
      local ns = math.floor(arg.min_ms * 1000000)
      local what = "evt.dir=< and " .. filter
      return ns > 0 and ("evt.latency>=%d and %s"):format(ns, what) or what
    end,
    color = function(row, arg)
      if type(row.result) == "string" and not waits[row.result] then return "red" end
      local ns = arg.min_ms * 1000000
      return ns > 0 and row["evt.latency"] and row["evt.latency"] >= 10 * ns and "yellow" or nil
    end,
  }
end
