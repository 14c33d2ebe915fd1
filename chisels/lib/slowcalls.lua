-- SPDX-License-Identifier: Apache-2.0
-- Logs of slow syscalls, for fileslower, netlower and scallslower: require "slowcalls"(FILTER, TITLE,
-- FIELD, COUNTS_BYTES, CONNECTS), which sets the callbacks. TITLE and FIELD are those of the last column;
-- COUNTS_BYTES: RESULT is the number of bytes, and a call with two files may have a row for each. A call
-- that began before the capture has no latency, and is shown with min_ms=0 only. With CONNECTS, a
-- non-blocking connect has a row when the process reads its result.
local report = require "report"

-- Results that are not failures: the program or the kernel repeats the call.
local waits = {ok = true, EAGAIN = true, EINPROGRESS = true, ERESTARTSYS = true, ERESTARTNOINTR = true,
               ERESTARTNOHAND = true, ERESTART_RESTARTBLOCK = true}

-- Handles of the fields with the number of bytes, or the error.
local failed, errname, bytes, written, read

-- Whether the event is shown as the end of a connect: not if it is a read or write that is slow itself.
local done, outcome, took, is_io, took_itself, least
local function is_late_connect()
  if not done or evt.field(done) ~= true then return false end
  return not (evt.field(is_io) == true and (evt.field(took_itself) or 0) >= least)
end

local function result(res)
  if is_late_connect() then
    local error = evt.field(outcome)
    return error ~= "SUCCESS" and error or 0
  end
  if res == nil then return nil end
  if evt.field(failed) then return evt.field(errname) or res end
  return bytes and (evt.field(written) or evt.field(read) or res) or "ok"
end

-- In files of other tools, the latency is 0 if the call began before the capture.
local function latency(ns)
  if is_late_connect() then return evt.field(took) end
  return ns ~= 0 and ns or nil
end

local function call(name) return is_late_connect() and "connect" or name end

return function(filter, title, name, counts_bytes, connects)
  bytes = counts_bytes
  require "eventlog" {
    args = {{name = "min_ms", argtype = "number", default = 10, check = report.milliseconds,
             description = "the threshold: calls that took at least this many milliseconds; 0: all calls (10)"}},
    init = function()
      failed, errname = chisel.request_field("evt.failed"), chisel.request_field("evt.res")
      if bytes then
        chisel.each_end()
        written, read = chisel.request_field("evt.io.write_bytes"), chisel.request_field("evt.io.read_bytes")
      end
      if not connects then return end
      done, outcome = chisel.request_field("fd.connect.done"), chisel.request_field("fd.connect.result")
      took, took_itself = chisel.request_field("fd.connect.latency"), chisel.request_field("evt.latency")
      is_io = chisel.request_field("evt.is_io")
    end,
    columns = {
      {"TIME", "evt.rawtime", name = "time", kind = "clock", width = 12},
      {"LATENCY", "evt.latency", kind = "time", width = 8, of = latency},
      {"PID", "proc.pid", kind = "number", width = 7},
      {"PROCESS", "proc.name", width = 15},
      {"CALL", "evt.type", of = call, width = 15},
      {"RESULT", "evt.rawres", name = "result", kind = "result", of = result, width = 11},
      {title, name},
    },
    filter = function(arg)
      local ns = math.floor(arg.min_ms * 1000000)
      local what = "evt.dir=< and " .. filter
      what = ns > 0 and ("evt.latency>=%d and %s"):format(ns, what) or what
      if not connects then return what end
      least = ns
      local late = ns > 0 and (" and fd.connect.latency>=%d"):format(ns) or ""
      return ("%s or fd.type in (ipv4, ipv6) and fd.connect.done=true%s"):format(what, late)
    end,
    color = function(row, arg)
      if type(row.result) == "string" and not waits[row.result] then return "red" end
      local ns = arg.min_ms * 1000000
      return ns > 0 and row["evt.latency"] and row["evt.latency"] >= 10 * ns and "yellow" or nil
    end,
  }
end
