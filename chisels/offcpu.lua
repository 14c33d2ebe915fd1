-- SPDX-License-Identifier: Apache-2.0
description = "What threads waited for while they were off the CPU: the function of the program that led to it, the system call, how they waited and who woke them. Of samples that --sample-on off_cpu, or saker profile --off-cpu, took: saker profile --off-cpu -w FILE."
short_description = "Show what threads wait for, and who wakes them"
category = "Performance"

local report = require "report"
local stacks = require "stacks"

local arg = report.args {
  {name = "top", default = 20, argtype = "int", check = report.whole(1), description = "So many rows"},
  {name = "if_empty", default = "warn", check = report.one_of {"warn", "nothing"},
   description = "Without any samples off the CPU: warn, or nothing"},
}
local fields = {}
local columns = {
  {title = "TIME", name = "ns", kind = "time"},
  {title = "TIMES", name = "times", kind = "number"},
  {title = "LONGEST", name = "longest", kind = "time"},
  {title = "PROCESS", name = "process"},
  {title = "CALL", name = "call"},
  {title = "STATE", name = "state"},
  {title = "WOKEN BY", name = "woken_by"},
  {title = "FUNCTION", name = "function"},
}
local rows, by = {}, {}

function on_init()
  chisel.set_filter("evt.type=sample and sample.reason=off_cpu")
  for name, field in pairs {comm = "sample.comm", ns = "sample.weight", call = "sample.call",
                            state = "sample.state", waker = "sample.waker.comm",
                            rows = "stack.rows"} do
    fields[name] = chisel.request_field(field)
  end
  return true
end

-- The innermost function of the program itself, not of a library: who reads knows that one. With
-- nothing but _start all of the program is in libraries.
local function culprit(text)
  local first
  for row in text:gmatch("[^\n]+") do
    local kind, func, module = row:match("^(.)\t([^\t]*)\t([^\t]*)")
    if kind == "u" and func ~= "" then
      first = first or func
      if not module:find("%.so[.%d]*$") and func ~= "_start" then return func end
    elseif (kind == "i" or kind == "j") and func ~= "" then
      return func
    end
  end
  return first
end

function on_event()
  local ns = evt.field(fields.ns)
  if not ns then return end
  local comm, call = evt.field(fields.comm), evt.field(fields.call)
  local state, waker = evt.field(fields.state), evt.field(fields.waker)
  local func = culprit(evt.field(fields.rows) or "")
  local key = table.concat({comm or "", call or "", state or "", waker or "", func or ""}, "\n")
  local row = by[key]
  if not row then
    row = {0, 0, 0, comm, call, state, waker, func, key = key}
    by[key], rows[#rows + 1] = row, row
  end
  row[1], row[2], row[3] = row[1] + ns, row[2] + 1, math.max(row[3], ns)
end

function on_capture_end()
  if #rows == 0 then
    if arg.if_empty == "warn" then stacks.tell_none(true) end
    return
  end
  table.sort(rows, function(a, b)
    if a[1] ~= b[1] then return a[1] > b[1] end
    if a[8] ~= b[8] then return (a[8] or "") < (b[8] or "") end
    return a.key < b.key
  end)
  report.put_once(columns, table.move(rows, 1, math.min(#rows, arg.top), 1, {}))
end
