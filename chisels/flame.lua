-- SPDX-License-Identifier: Apache-2.0
description = "Shows where threads spend their time: in which syscalls, on which files, and outside of syscalls, where they run or wait for a CPU. On a terminal this is a tree of everything that took one percent or more. Into a pipe it is folded lines with nanoseconds, from which programs draw flame graphs: saker -r in.scap -c flame | flamegraph.pl --countname ns >out.svg. The time before a thread's first event is unknown and does not count."
short_description = "Show the time of threads by call and file, for flame graphs"
category = "Performance"

local report = require "report"
local stacks = require "stacks"

local levels = {container = "container.name", process = "proc.name", pid = "proc.pid",
                thread = "thread.tid", call = "evt.type", file = "fd.name"}

local function check_levels(value)
  local list = {}
  for name in value:gmatch("[^,]+") do
    if not levels[name] then return nil, "some of container,process,pid,thread,call,file are needed" end
    list[#list + 1] = name
  end
  return #list > 0 and list or nil, "some of container,process,pid,thread,call,file are needed"
end

local arg = report.args {
  {name = "levels", default = {"process", "call"}, check = check_levels,
   description = "frames of a stack, from its bottom: process,thread,call,file"},
}

-- With this many stacks, new ones are counted without their files.
local STACKS_MAX = 200000
-- Stacks that are cached per thread; then its cache is cleared.
local KNOWN_MAX = 5000

local names = {}
local handles = {}
local time, latency, tid, dir, file
local threads = {} -- by tid: {since =, stack = of the time since then, in_call =, known = stacks}
local weights, n_stacks = {}, 0 -- by folded stack: nanoseconds

function on_init()
  names = table.move(arg.levels, 1, #arg.levels, 1, {})
  if sysdig.is_print_container_data() and names[1] ~= "container" then
    table.insert(names, 1, "container")
  end
  for i, name in ipairs(names) do
    handles[i] = chisel.request_field(levels[name])
    if name == "file" then file = handles[i] end
  end
  time, latency = chisel.request_field("evt.rawtime"), chisel.request_field("evt.latency")
  tid, dir = chisel.request_field("thread.tid"), chisel.request_field("evt.dir")
  chisel.set_filter("syscall.type exists or evt.type=procexit")
  return true
end

local NO_CALL = "(no call)"

-- Returns the folded stack of the current event. call is NO_CALL outside of syscalls.
local function make_stack(call)
  local parts = {}
  for i, name in ipairs(names) do
    local value
    if name == "call" then
      value = call
    elseif name ~= "file" or call ~= NO_CALL then
      value = evt.field(handles[i])
    end
    if value and (name == "pid" or name == "thread") then value = name .. " " .. value end
    if value and value ~= "" then
      parts[#parts + 1] = (report.line(value):gsub(";", ","))
    end
  end
  return table.concat(parts, ";")
end

-- Calls after which a thread can have another name.
local renames = {execve = true, execveat = true, prctl = true}

-- Returns the stack of the current event, from the cache of the thread by call and file if it is there.
local function stack(thread, call)
  local files = thread.known[call]
  if not files then
    files = {}
    thread.known[call] = files
  end
  local of = file and call ~= NO_CALL and evt.field(file) or ""
  local folded = files[of]
  if not folded then
    folded = make_stack(call)
    files[of] = folded
    thread.n_known = (thread.n_known or 0) + 1
    if thread.n_known > KNOWN_MAX then thread.known, thread.n_known = {}, 0 end
  end
  return folded
end

local function add(folded, ns)
  if ns <= 0 then return end
  local old = weights[folded]
  if not old then
    n_stacks = n_stacks + 1
    if n_stacks > STACKS_MAX then
      folded = folded:gsub(";[^;]*$", ";(others)")
      old = weights[folded]
    end
  end
  weights[folded] = (old or 0) + ns
end

local field, get_type = evt.field, evt.get_type

-- Discards a thread that exits. Runs for threads outside of the filter, too.
local function on_end()
  local id = field(tid)
  local thread = id and threads[id]
  if not thread then return end
  if thread.since and not thread.in_call then add(thread.stack, field(time) - thread.since) end
  threads[id] = nil
end

function on_capture_start()
  chisel.follow("evt.type=procexit", on_end)
  return true
end

function on_event()
  local id, now = field(tid), field(time)
  if not id then return true end
  local thread, call = threads[id], get_type()
  if call == "procexit" then
    on_end()
    return true
  end
  if not thread then
    thread = {known = {}}
    threads[id] = thread
  end
  if field(dir) == ">" then
    if thread.since and not thread.in_call then add(thread.stack, now - thread.since) end
    thread.since, thread.in_call, thread.stack = now, true, stack(thread, call)
    return true
  end
  local ns = field(latency)
  if ns and ns > 0 then -- 0 means unknown in files of other tools
    if thread.since and not thread.in_call then add(thread.stack, now - ns - thread.since) end
    -- Made anew at the exit: only then does an open have a file.
    add(stack(thread, call), ns)
  end
  if renames[call] then thread.known = {} end
  thread.since, thread.in_call, thread.stack = now, false, stack(thread, NO_CALL)
  return true
end

-- ---- output ----

local function put_tree(list)
  local root, total = {by = {}}, 0
  for _, s in ipairs(list) do
    total = total + s.ns
    local at = root
    for part in s.folded:gmatch("[^;]+") do
      at.by[part] = at.by[part] or {name = part, value = 0, by = {}}
      at = at.by[part]
      at.value = at.value + s.ns
    end
  end
  local function put(node, depth)
    for _, child in ipairs(stacks.children(node)) do
      if child.value * 100 >= total then
        print(("%5.1f%% %9s  %s%s"):format(child.value * 100 / total, report.time(child.value),
                                         ("  "):rep(depth), child.name))
        put(child, depth + 1)
      end
    end
  end
  put(root, 0)
end

local function sorted()
  local list = {}
  for folded, ns in pairs(weights) do list[#list + 1] = {folded = folded, ns = ns} end
  table.sort(list, function(a, b)
    if a.ns ~= b.ns then return a.ns > b.ns end
    return a.folded < b.folded
  end)
  return list
end

function on_capture_end(s, ns)
  for _, thread in pairs(threads) do
    if thread.since then add(thread.stack, s * 1000000000 + ns - thread.since) end
  end
  local list = sorted()
  if report.is_json() then
    for _, item in ipairs(list) do
      local parts = {}
      for part in item.folded:gmatch("[^;]+") do parts[#parts + 1] = part end
      report.print_json {stack = parts, ns = item.ns}
    end
  elseif sysdig.is_tty() then
    put_tree(list)
  else
    for _, item in ipairs(list) do print(("%s %d"):format(item.folded, item.ns)) end
  end
end
