-- SPDX-License-Identifier: Apache-2.0
description = "Shows what threads waited for while they were off the CPU: the function of the program that led to the wait, the syscall, the kind of wait, and the thread that woke them. Needs samples of threads off the CPU: saker profile --off-cpu -w FILE, or --sample-on off_cpu."
short_description = "Show what threads wait for, and which threads wake them"
category = "Performance"

local report = require "report"
local stacks = require "stacks"

local arg = report.args {
  {name = "top", default = 20, argtype = "int", check = report.whole(1), description = "rows in the table (20)"},
  {name = "if_empty", default = "warn", check = report.one_of {"warn", "nothing"},
   description = "if there are no samples off the CPU: warn, or nothing (warn)"},
}
local fields, whose, tid_field = {}, nil, nil
-- A wait that began before the capture has a lower bound only.
report.kinds.least = {right = true, show = function(v) return (v.at_least and ">=" or "") .. report.time(v.ns) end}
local columns = {
  {title = "TIME", name = "ns", kind = "least"},
  {title = "TIMES", name = "times", kind = "number"},
  {title = "LONGEST", name = "longest", kind = "least", extra = true},
  {title = "PROCESS", name = "process"},
  {title = "THREAD", name = "thread"},
  {title = "IN", name = "call"},
  {title = "WOKEN BY", name = "woken_by"},
  {title = "FUNCTION", name = "function"},
}
local rows, by, processes = {}, {}, stacks.processes()

function on_init()
  chisel.set_filter("evt.type=sample and sample.reason=off_cpu")
  whose, tid_field = stacks.whose_fields(), chisel.request_field("thread.tid")
  fields = report.fields {
    ns = "sample.weight", call = "sample.call", state = "sample.state", waker = "sample.waker.comm",
    waker_tid = "sample.waker", arg = "sample.call.arg", fd = "sample.call.fd", file = "sample.call.file",
    older = "sample.older", rows = "stack.rows", own = "stack.lang.own",
  }
  return true
end

-- Returns the innermost function of an interpreted program, with its file and line, which may be unknown; nil:
-- there is none. Functions of the runtime's library count only if nothing else does; among these builtins,
-- which have no file, or are native methods of Java.
local function script_culprit(text)
  local own, builtin = evt.field(fields.own), nil
  if own then
    local func, file = own:match("^(.*) %((.*)%)$")
    local path, line = (file or ""):match("^(.*):(%d+)$")
    return func or own, path or file, tonumber(line)
  end
  for func, file, line in text:gmatch("%f[^\n\0]s\t([^\t\n]+)\t[^\t\n]*\t[^\t\n]*\t[^\t\n]*\t([^\t\n]*)\t([^\t\n]*)") do
    line = tonumber(line)
    if line and line > 0 then return func, file ~= "" and file or nil, line end
    if file ~= "" and not file:find("%.java$") then return func, file end
    builtin = builtin or {func, file ~= "" and file or nil}
  end
  if builtin then return builtin[1], builtin[2] end
end

-- Returns the innermost function of the program itself, not of a library: readers recognize it. If the
-- program has only _start, all its code is in libraries: then returns the innermost function of these.
-- Of an interpreted program also the file and the line.
local function culprit(text)
  local first
  if text:find("%f[^\n\0]s\t") then return script_culprit(text) end
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

-- Returns the innermost functions: where the kernel waits, and the function of the program that called it.
local function place(text)
  local kernel, user
  for row in text:gmatch("[^\n]+") do
    local kind, func = row:match("^(.)\t([^\t]*)")
    if kind == "k" and not kernel and func ~= "" and not func:find("^_*schedule") then kernel = func end
    if kind ~= "k" and func ~= "" and not user then user = func end
  end
  return kernel, user
end

-- "load (app.py:12)"
local function function_of(r)
  if not r.file then return r.func end
  return ("%s (%s%s)"):format(r.func, report.source_name(r.file), r.line and r.line > 0 and ":" .. r.line or "")
end

-- The last sample of each thread that was not woken since: where it still waits if the capture ends. Threads
-- beyond WAITING_MAX are in the table of waits only.
local WAITING_MAX = 20000
local waiting, n_waiting = {}, 0

-- Returns what the call of the current sample waits for: a lock's address, or a file descriptor with its file
-- or peer.
local function object()
  local fd, file = evt.field(fields.fd), evt.field(fields.file)
  if fd then return ("fd %d"):format(fd) .. (file and " " .. file or "") end
  local call, arg = evt.field(fields.call), evt.field(fields.arg)
  return call and call:find("^futex") and arg and ("lock 0x%x"):format(arg) or nil
end

local function note_wait(row, ns)
  local tid = evt.field(tid_field)
  if not tid then return end
  if waiting[tid] then
    waiting[tid], n_waiting = nil, n_waiting - 1
  end
  if row.waker or row.state == "running" or n_waiting >= WAITING_MAX then return end
  local kernel, user = place(evt.field(fields.rows) or "")
  waiting[tid] = {row = row, kernel = kernel, user = function_of(row) or user, ns = ns, at_least = evt.field(fields.older),
                  object = object()}
  n_waiting = n_waiting + 1
end

local WAITING_LINES = 10

-- Returns the places where threads still wait: functions of interpreted programs before those of runtimes,
-- then those with the most threads.
local function waiting_places()
  local places, list = {}, {}
  for _, w in pairs(waiting) do
    local r = w.row
    local text = (r.call or r.state or "?") .. (w.kernel and " in " .. w.kernel or "") .. (w.user and " <- " .. w.user or "")
      .. ", " .. processes:label(r.process, r.pid)
    if not places[text] then
      places[text] = {text = text, n = 0, row = r, kernel = w.kernel, user = w.user, ns = 0, objects = {}, by = {}}
      list[#list + 1] = places[text]
    end
    local p = places[text]
    p.is_own, p.thread = p.is_own or r.file ~= nil, (p.n == 0 or p.thread == r.thread) and r.thread or nil
    p.n, p.at_least, p.ns = p.n + 1, p.at_least or w.at_least, math.max(p.ns, w.ns)
    if w.object and not p.by[w.object] then p.objects[#p.objects + 1] = w.object end
    if w.object then p.by[w.object] = (p.by[w.object] or 0) + 1 end
  end
  for _, p in ipairs(list) do table.sort(p.objects) end
  table.sort(list, function(a, b)
    if a.is_own ~= b.is_own then return a.is_own end
    if a.n ~= b.n then return a.n > b.n end
    return a.text < b.text
  end)
  return list
end

local OBJECTS_MAX = 3

-- "on lock 0x7f31a0 (2 threads), fd 5"
local function objects_of(p)
  local parts = {}
  for i, o in ipairs(p.objects) do
    if i > OBJECTS_MAX then
      parts[i] = ("%d more"):format(#p.objects - OBJECTS_MAX)
      break
    end
    parts[i] = o .. (p.by[o] > 1 and (" (%d threads)"):format(p.by[o]) or "")
  end
  return #parts > 0 and ", on " .. table.concat(parts, ", ") or ""
end

-- "2 threads still wait: futex in futex_do_wait <- PyThread_acquire_lock, python3 (4711), for at least 5.00s, on ..."
local function put_waiting()
  local list = waiting_places()
  for i, p in ipairs(list) do
    if i > WAITING_LINES then
      print(("... and %d more places"):format(#list - WAITING_LINES))
      break
    end
    print(("%d thread%s still wait%s: %s, for %s%s%s"):format(
      p.n, p.n > 1 and "s" or "", p.n > 1 and "" or "s", report.line(p.text .. (p.thread and ", thread " .. p.thread or "")),
      p.at_least and "at least " or "",
      report.time(p.ns), report.line(objects_of(p))))
  end
end

-- If an interrupt ends these calls, it is that of a timer.
local timed = {nanosleep = true, clock_nanosleep = true}

local function waker_of(call)
  local comm = evt.field(fields.waker)
  if evt.field(fields.waker_tid) == 0 and timed[call] then return "timer" end
  return comm
end

-- Reasons to leave the CPU outside of a call.
local states = {running = "preempted", disk_sleep = "disk"}

function on_event()
  local ns = evt.field(fields.ns)
  if not ns then return end
  local process, pid, thread = processes:whose(whose)
  local call = evt.field(fields.call)
  local r = {process = process, pid = pid, thread = thread, call = call,
             state = evt.field(fields.state), waker = waker_of(call)}
  r.func, r.file, r.line = culprit(evt.field(fields.rows) or "")
  local key = table.concat({r.process, r.pid or "", r.thread or "", r.call or "", r.state or "", r.waker or "",
                            r.func or "", r.file or "", r.line or ""}, "\n")
  local row = by[key]
  if not row then
    row, r.key, r.ns, r.times, r.longest = r, key, 0, 0, 0
    by[key], rows[#rows + 1] = row, row
  end
  row.ns, row.times, row.longest = row.ns + ns, row.times + 1, math.max(row.longest, ns)
  row.at_least = row.at_least or evt.field(fields.older)
  note_wait(row, ns)
end

local function put_json(list)
  for _, r in ipairs(list) do
    report.print_json {ns = r.ns, times = r.times, longest = r.longest, process = r.process, pid = r.pid,
                       thread = r.thread or r.process, call = r.call, state = r.state, woken_by = r.waker,
                       ["function"] = r.func, file = r.file, line = r.line, at_least = r.at_least or nil}
  end
  for _, p in ipairs(waiting_places()) do
    report.print_json {still_waiting = p.n, process = p.row.process, pid = p.row.pid, call = p.row.call,
                       state = p.row.state, kernel_function = p.kernel, ["function"] = p.row.func or p.user,
                       file = p.row.file, line = p.row.line,
                       waited_ns = p.ns, at_least = p.at_least or nil, on = #p.objects > 0 and p.objects or nil}
  end
end

-- Shows the column of threads if one has a name of its own.
local function put_table(list)
  local cells, has_threads = {}, false
  for i, r in ipairs(list) do
    cells[i] = {{ns = r.ns, at_least = r.at_least}, r.times, {ns = r.longest, at_least = r.at_least}, processes:label(r.process, r.pid), r.thread or false,
                r.call or states[r.state] or r.state, r.waker, function_of(r)}
    has_threads = has_threads or r.thread ~= nil
  end
  local shown = table.move(columns, 1, #columns, 1, {})
  for _, row in ipairs(cells) do
    if not has_threads then table.move(row, 6, 9, 5) elseif not row[5] then row[5] = nil end
  end
  if not has_threads then table.remove(shown, 5) end
  report.put_once(shown, cells)
  put_waiting()
end

function on_capture_end()
  if #rows == 0 then
    if arg.if_empty == "warn" then stacks.log_none(true) end
    return
  end
  table.sort(rows, function(a, b)
    if a.ns ~= b.ns then return a.ns > b.ns end
    if a.func ~= b.func then return (a.func or "") < (b.func or "") end
    return a.key < b.key
  end)
  local list = table.move(rows, 1, math.min(#rows, arg.top), 1, {})
  if report.is_json() then return put_json(list) end
  put_table(list)
end
