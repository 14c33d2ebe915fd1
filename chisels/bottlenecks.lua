-- SPDX-License-Identifier: Apache-2.0
description = "Lists the slowest syscalls. A call that is still open when the capture ends counts up to then. A call that was open when the capture began counts from then on, so it took at least that long; its BEGAN is 'before'. Calls that wait for something, such as poll and nanosleep, are included; the filter 'evt.is_wait=false' leaves them out. Live on a terminal, the list is updated each second."
short_description = "List the slowest syscalls"
category = "Performance"

local report = require "report"

local arg = report.args {
  {name = "top", argtype = "int", default = 10, check = report.whole(1),
   description = "calls in the list (10)"},
}

local columns = report.with_container {
  {"LATENCY", "evt.latency", kind = "time"},
  {"BEGAN", name = "began"},
  {"PID", "proc.pid", kind = "number"},
  {"PROCESS", "proc.name"},
  {"CALL", "evt.type"},
  {"ARGUMENTS", "evt.args"},
}
report.named(columns)

local names = {latency = "evt.latency", time = "evt.rawtime", tid = "thread.tid", type = "evt.type", dir = "evt.dir",
               before = "evt.began_before"}
local fields, handles = {}, {}
local slowest, widths, drawn = {}, {}, false
-- Open calls that sleep, by thread: {row, since, type, before}.
local open = require "bounded"(100000)
local last_ns = 0
-- Events after which a thread has no open call.
local GONE = {procexit = true, exit = true, exit_group = true}

-- Runs for threads outside of the filter, too: their calls are over.
local function on_end()
  local tid = evt.field(fields.tid)
  if tid then open:take(tid) end
end

function on_init()
  chisel.set_filter("(syscall.type exists and not evt.is_blocked=false) or evt.type=procexit")
  chisel.follow("evt.type=procexit", on_end)
  fields = report.fields(names)
  for i, c in ipairs(columns) do handles[i] = c[2] and c[2] ~= "evt.latency" and chisel.request_field(c[2]) or false end
  return true
end

function on_capture_start()
  if report.redraws() then chisel.set_interval_s(1) end
  return true
end

-- Returns the row of the event. began is nil if it is unknown.
local function row_of(ns, began)
  local row = {}
  for i, h in ipairs(handles) do row[i] = h and evt.field(h) or false end
  row[1], row[2] = ns, began and report.clock(began) or "before"
  row[#row] = (row[#row] or ""):match("^(.*%S)")
  return row
end

-- Inserts the row into the list, which is sorted, the slowest first, and has at most `top` rows.
local function insert(list, row)
  local at = #list + 1
  while at > 1 and list[at - 1][1] < row[1] do at = at - 1 end
  table.insert(list, at, row)
  list[arg.top + 1] = nil
end

local function is_slow(list, ns)
  local last = list[arg.top]
  return ns > 0 and not (last and ns <= last[1])
end

local function on_exit(tid, call)
  local ns, began = evt.field(fields.latency), evt.field(fields.time)
  if ns then
    began = began - ns
  elseif call and call.before and call.type == evt.field(fields.type) then
    ns, began = began - call.since, nil
  end
  if ns and is_slow(slowest, ns) then insert(slowest, row_of(ns, began)) end
end

function on_event()
  local tid, time = evt.field(fields.tid), evt.field(fields.time)
  last_ns = time
  if not tid then return true end
  if GONE[evt.field(fields.type)] then
    open:take(tid)
  elseif evt.field(fields.dir) == "<" then
    on_exit(tid, open:take(tid))
  else
    local before = evt.field(fields.before)
    open:put(tid, {row = row_of(0, not before and time or nil), since = time, type = evt.field(fields.type), before = before})
  end
  return true
end

-- Prints the calls that ended, and open ones with their time so far.
local function put(now)
  local list = {table.unpack(slowest)}
  for _, call in open:each() do
    call.row[1] = now - call.since
    if is_slow(list, call.row[1]) then insert(list, call.row) end
  end
  if #list > 0 then report.put(columns, list, widths) end
end

function on_interval(seconds, ns)
  put(seconds * 1000000000 + ns)
  return true
end

function on_capture_end(seconds, ns)
  put(seconds and seconds * 1000000000 + ns or last_ns)
end
