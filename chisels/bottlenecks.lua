-- SPDX-License-Identifier: Apache-2.0
description = "The system calls that took longest, of all that ended during the capture. Calls that wait for something, such as poll and nanosleep, are among them: 'evt.is_wait=false' as a filter leaves them out. Live on a terminal, the list is renewed each second."
short_description = "List the slowest system calls"
category = "Performance"

local report = require "report"

local arg = report.args {
  {name = "top", argtype = "int", default = 10, check = report.whole(1),
   description = "how many calls (10)"},
}

local columns = report.with_container {
  {"LATENCY", "evt.latency", kind = "time"},
  {"BEGAN", name = "began", kind = "clock"},
  {"PID", "proc.pid", kind = "number"},
  {"PROCESS", "proc.name"},
  {"CALL", "evt.type"},
  {"ARGUMENTS", "evt.args"},
}
for _, c in ipairs(columns) do c.title, c.name = c[1], c.name or c[2] end

local latency, time, handles = nil, nil, {}
local slowest, widths, drawn = {}, {}, false

function on_init()
  chisel.set_filter("evt.latency>0 and syscall.type exists")
  latency, time = chisel.request_field("evt.latency"), chisel.request_field("evt.rawtime")
  for i, c in ipairs(columns) do handles[i] = c[2] and chisel.request_field(c[2]) or false end
  return true
end

function on_capture_start()
  if report.redraws() then chisel.set_interval_s(1) end
  return true
end

-- Sorted, the slowest first, never more than asked for.
function on_event()
  local ns = evt.field(latency)
  local last = slowest[arg.top]
  if last and ns <= last[1] then return true end
  local row = {}
  for i, h in ipairs(handles) do row[i] = h and evt.field(h) or evt.field(time) - ns end
  row[#row] = (row[#row] or ""):match("^(.*%S)")
  local at = #slowest + 1
  while at > 1 and slowest[at - 1][1] < ns do at = at - 1 end
  table.insert(slowest, at, row)
  slowest[arg.top + 1] = nil
  return true
end

local function put()
  if #slowest > 0 then report.put(columns, slowest, widths) end
end

function on_interval()
  put()
  return true
end

on_capture_end = put
