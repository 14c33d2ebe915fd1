-- SPDX-License-Identifier: Apache-2.0
description = "Shows the programs that processes execute: start, duration, status and command line. At the end of the capture they are shown as a tree; a live terminal also shows a line when a program starts and when it ends. STATUS is the exit status, or the signal that terminated the process. It is 'exec' if the process executed another program, which is the next line of that process unless the filter leaves it out. It is 'running' if the program did not end, and '-' if its end was not captured. A process that executes no program of its own is marked '(fork)'. Processes that were there before the capture, and executed no program since, have the STATUS '-' as well."
short_description = "Show programs as they start and end, as a tree"
category = "System State"

local report = require "report"
local bounded = require "bounded"

local arg = report.args {
  {name = "failed", default = "no", check = report.one_of {"no", "yes"},
   description = "yes: include programs that could not be started (no)"},
  {name = "keep", argtype = "int", default = 10000, check = report.whole(1),
   description = "lines of the tree, at most; the oldest are left out (10000)"},
  report.color_arg,
}

local DEEPEST = 40 -- the largest indent, in levels of the tree

-- A start of more than a day ago is shown as a date.
local DAY = 86400 * 1000000000
report.kinds.start = {show = function(ns)
  if tonumber(sysdig.get_lastevent_ts()) - ns < DAY then return report.clock(ns) end
  return os.date("%Y-%m-%d", ns // 1000000000)
end}

local columns = {
  {"START", name = "start", kind = "start"},
  {"DURATION", name = "duration", kind = "time"},
  {"STATUS", name = "status"},
  {"PID", name = "pid", kind = "number"},
  {"PROGRAM", name = "program"},
}

local fields, stream, has_container = {}, nil, false
-- An entry is one program in one process: {pid, parent = entry, program, start, stop, status, ...}. running
-- has the current entry of each process; kept has the entries of the tree by number.
local running, kept, first, last = bounded(100000), {}, 1, 0

function on_init()
  fields = report.fields {
    time = "evt.rawtime", type = "evt.type", dir = "evt.dir", pid = "proc.pid", ppid = "proc.ppid",
    is_main = "thread.ismain", threads = "proc.nchilds", program = "proc.cmdline",
    parent = "proc.pcmdline", age = "proc.duration", result = "evt.rawres", error = "evt.res",
    failed = "evt.failed", file = "evt.arg.filename", status = "evt.rawarg.status",
    signal = "evt.arg.sig", container = "container.name",
  }
  chisel.set_filter("evt.type in (execve, execveat) and evt.dir=< or evt.type=procexit or " ..
                    report.is_in_child)
  has_container = sysdig.is_print_container_data()
  columns = report.named(report.with_container(columns))
  if report.redraws() then
    local lines = {{"TIME", name = "time", kind = "clock", width = 12}, {"EVENT", name = "event"},
                   {"PID", name = "pid", kind = "number", width = 7},
                   {"PARENT", name = "ppid", kind = "number", width = 7},
                   {"DURATION", name = "duration", kind = "time", width = 8},
                   {"STATUS", name = "status", width = 7}, {"PROGRAM", name = "program"}}
    stream = report.event_stream(lines)
  end
  return true
end

-- ---- entries ----

local function add(entry)
  last = last + 1
  entry.number, entry.n_children = last, 0
  entry.container = evt.field(fields.container)
  kept[last] = entry
  if entry.parent then entry.parent.n_children = entry.parent.n_children + 1 end
  if last - first + 1 > arg.keep then
    kept[first].parent = nil -- else evicted entries would stay in memory as ancestors
    kept[first] = nil
    first = first + 1
  end
  return entry
end

local function put_json(entry)
  report.print_json({
    start = entry.start, duration = entry.start and entry.stop and entry.stop - entry.start,
    pid = entry.pid, ppid = entry.ppid, program = entry.program, status = entry.code,
    signal = entry.signal, exec = entry.is_exec or nil, error = entry.error,
    became = entry.became, ["container.name"] = has_container and entry.container or nil,
  })
end

-- Returns the values for a line on the terminal, or an object.
local function put_event(entry, event, color)
  if report.is_json() then
    if event ~= "start" and not entry.from_before then put_json(entry) end
  elseif stream then
    local duration = event ~= "start" and entry.start and entry.stop - entry.start or nil
    stream({evt.field(fields.time), event, entry.pid, entry.ppid, duration,
            event ~= "start" and entry.status or nil, entry.program}, color)
  end
end

-- Returns the entry of the parent. A parent from before the capture gets an entry without a start.
local function parent_of(ppid)
  if not ppid or ppid < 1 then return nil end
  local parent = running:get(ppid)
  if not parent then
    parent = add {pid = ppid, program = evt.field(fields.parent), from_before = true, is_exec = true}
    running:put(ppid, parent)
  end
  return parent
end

-- ---- events ----

local function on_fork(now, pid)
  if not evt.field(fields.is_main) then return end
  local ppid, before = evt.field(fields.ppid), running:get(pid)
  if before then before.status, before.is_lost = "-", true end -- its end was not captured
  running:put(pid, add {pid = pid, ppid = ppid, parent = parent_of(ppid), start = now,
                        program = evt.field(fields.program)})
end

local function on_exec(now, pid)
  local before = running:get(pid)
  local ppid = evt.field(fields.ppid)
  if evt.field(fields.failed) then
    if arg.failed == "no" then return end
    local why = evt.field(fields.error)
    put_event(add {pid = pid, ppid = ppid, parent = before or parent_of(ppid), start = now, stop = now,
              status = why, error = why, program = evt.field(fields.file), is_exec = true},
         "failed", "red")
    return
  end
  local program = evt.field(fields.program)
  local entry = before
  if before and not before.is_exec and before.n_children == 0 then -- the fork was only for this exec
    before.start, before.program, before.is_exec = now, program, true
  else
    if before and not before.from_before then
      before.stop, before.status, before.became = now, "exec", program
      if not stream then put_event(before, "exec") end
    end
    entry = add {pid = pid, ppid = ppid, parent = before and before.parent or parent_of(ppid),
                 start = now, program = program, is_exec = true}
    running:put(pid, entry)
  end
  entry.main_ended = nil
  put_event(entry, "start")
end

-- hidden: the filter leaves this event out, but possibly not the program that it ends.
local function on_end(now, pid, hidden)
  local entry = running:get(pid)
  if not entry then
    if hidden then return end
    local ppid = evt.field(fields.ppid)
    entry = add {pid = pid, ppid = ppid, parent = running:get(ppid or 0), program = evt.field(fields.program),
                 is_exec = true}
    running:put(pid, entry)
  end
  local age = evt.field(fields.age)
  entry.start = entry.start or age and now - age -- it started before the capture
  entry.stop = now
  local others = evt.field(fields.threads) or 0
  if evt.field(fields.is_main) then
    local status, signal = evt.field(fields.status) or 0, nil
    if status & 127 ~= 0 then
      signal = evt.field(fields.signal) or ("signal %d"):format(status & 127)
      entry.signal, entry.status = signal, signal .. (status & 128 ~= 0 and " core" or "")
    else
      entry.code = status >> 8 & 255
      entry.status = tostring(entry.code)
    end
    entry.main_ended = true
  else
    others = others - 1
  end
  if not entry.main_ended or others > 0 then return end -- other threads still run
  running:take(pid)
  if hidden and entry.from_before then return end
  entry.from_before = nil
  put_event(entry, "end", entry.signal and "red" or entry.code ~= 0 and "yellow" or nil)
end

-- Ends the program of a process that executes one that the filter leaves out.
local function on_hidden_exec(now, pid)
  local entry = running:get(pid)
  if not entry or entry.from_before or evt.field(fields.failed) then return end
  running:take(pid)
  entry.stop, entry.status, entry.became = now, "exec", evt.field(fields.program)
  put_event(entry, "exec")
end

local function on_hidden()
  local pid = evt.field(fields.pid)
  if not pid then return end
  local handle = evt.field(fields.type) == "procexit" and on_end or on_hidden_exec
  handle(evt.field(fields.time), pid, true)
end

function on_capture_start()
  chisel.follow("evt.type=procexit or evt.type in (execve, execveat) and evt.dir=<", on_hidden)
  if stream then stream() end
  return true
end

function on_event()
  local pid = evt.field(fields.pid)
  if not pid then return true end
  local now, kind = evt.field(fields.time), evt.field(fields.type)
  if kind == "procexit" then
    on_end(now, pid)
  elseif kind == "execve" or kind == "execveat" then
    on_exec(now, pid)
  else
    on_fork(now, pid)
  end
  return true
end

-- ---- the tree ----

-- Sets the start of processes from before the capture that still run, from the table of threads.
local function find_starts()
  local threads = sysdig.get_thread_table_nofds()
  for pid, entry in running:each() do
    local started = threads[pid] and threads[pid].clone_ts or 0
    if not entry.start and started > 0 then entry.start = started end
  end
end

local function tree_rows(now)
  local children, roots, rows = {}, {}, {}
  for n = first, last do
    local entry = kept[n]
    local parent = entry.parent
    if parent and kept[parent.number] then
      children[parent] = children[parent] or {}
      table.insert(children[parent], entry)
    else
      roots[#roots + 1] = entry
    end
  end
  -- Without recursion: a chain of processes can have any length.
  local stack = {}
  for i = #roots, 1, -1 do stack[#stack + 1] = {roots[i], 0} end
  while #stack > 0 do
    local entry, depth = table.unpack(table.remove(stack))
    local stop = entry.stop or not entry.is_lost and now or nil
    local row = {
      entry.start,
      entry.start and stop and stop - entry.start or nil,
      entry.from_before and "-" or entry.status or "running", entry.pid,
      ("  "):rep(math.min(depth, DEEPEST)) .. (entry.program or "-") ..
      (entry.is_exec and "" or " (fork)"),
    }
    rows[#rows + 1] = has_container and {row[1], entry.container, table.unpack(row, 2, 5)} or row
    local below = children[entry] or {}
    for i = #below, 1, -1 do stack[#stack + 1] = {below[i], depth + 1} end
  end
  return rows
end

function on_capture_end(s, ns)
  if report.is_json() then
    for n = first, last do
      if running:get(kept[n].pid) == kept[n] and not kept[n].from_before then put_json(kept[n]) end
    end
    return
  end
  if last == 0 then return report.put_nothing("no programs started or ended") end
  if stream then print("") end
  find_starts()
  for _, line in ipairs(report.lines(columns, tree_rows(s * 1000000000 + ns), {})) do print(line) end
  if first > 1 then print(("%d older programs are left out: keep=N keeps more"):format(first - 1)) end
end
