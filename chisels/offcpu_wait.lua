-- SPDX-License-Identifier: Apache-2.0
description = "Shows how long threads were blocked in syscalls, by process, call, and file or peer. A call that is still open counts up to the time of the table. Threads that wait at the same time all count, so the sum can be more than the time that passed. The filter 'evt.is_wait=false' leaves out calls that are made to wait, such as poll and nanosleep. In a capture of another tool, a call counts if its thread left the CPU during it."
short_description = "Top waits by process, syscall, and file or peer"
category = "Performance"

local report = require "report"

local names = {
  tid = "thread.tid", time = "evt.rawtime", type = "evt.type", dir = "evt.dir", blocked = "evt.is_blocked",
  pid = "proc.pid", process = "proc.name", container = "container.name", file = "fd.name",
  file_type = "fd.type", path = "evt.path", files = "fdlist.names", child = "evt.rawarg.pid", child_name = "evt.arg.pid",
}
local fields = {}

-- Open calls by thread: the values of the row's keys, and {sleeps, began, since, is_counted}. The table has
-- the wait up to `since` already, and the call itself if is_counted.
local open = require "bounded"(100000)
local ended = nil -- the call that ends with this event

local function target(call)
  local field = evt.field
  local name = field(fields.file)
  if name and name ~= "" then return name end
  name = field(fields.files)
  name = name and name:gsub("<NA>,?", ""):gsub(",$", "")
  if name and name ~= "" then return name end
  local path = field(fields.path) -- of a blocked open, as of a FIFO
  if path and path ~= "" then return path end
  local child = call == "wait4" and field(fields.child)
  if child then return child == -1 and "any child" or field(fields.child_name) end
  return field(fields.file_type)
end

-- Whether the event ends a wait.
local function on_call()
  local field = evt.field
  local tid, kind = field(fields.tid), field(fields.type)
  local call = tid and open:get(tid)
  ended = nil
  if not tid then return false end
  if kind == "switch" then
    if call then call.sleeps = true end
  elseif field(fields.dir) == ">" then -- an exiting thread has no open call either
    open:take(tid)
    if kind == "procexit" then return false end
    open:put(tid, {
      began = field(fields.time), since = field(fields.time), sleeps = field(fields.blocked),
      container = field(fields.container), pid = field(fields.pid), process = field(fields.process),
      type = kind, target = target(kind),
    })
  elseif call then
    open:take(tid)
    if call.sleeps and call.type == kind then
      ended, call.target = call, call.target or target(kind)
    end
  end
  return ended ~= nil
end

local function key_of(name) return function() return ended[name] end end

local keys = report.with_container {
  {"PID", name = "proc.pid", of = key_of("pid")},
  {"PROCESS", name = "proc.name", of = key_of("process")},
  {"CALL", name = "evt.type", of = key_of("type")},
  {"WAITS FOR", name = "target", of = key_of("target")},
}
for _, key in ipairs(keys) do
  if key[1] == "CONTAINER" then key[2], key.name, key.of = nil, "container.name", key_of("container") end
end

require "toplist" {
  filter = "syscall.type exists and not evt.is_blocked=false or evt.type in (switch, procexit)",
  keys = keys,
  no_container = true,
  values = {
    {"WAITED", name = "waited", kind = "time",
     of = function() return evt.field(fields.time) - ended.since end},
    {"CALLS", name = "calls", of = function() return ended.is_counted and 0 or 1 end},
    {"LONGEST", name = "longest", kind = "time", max = true,
     of = function() return evt.field(fields.time) - ended.began end},
  },
  top = 20,
  interval = 0,
  init = function()
    fields = report.fields(names)
    chisel.follow("evt.type=procexit", on_call)
  end,
  event = on_call,
  restart = function()
    for _, call in open:each() do call.is_counted = false end
  end,
  settle = function(add, now)
    for _, call in open:each() do
      if call.sleeps and now > call.since then
        ended = call
        local row = {}
        for i, key in ipairs(keys) do row[i] = key.of() end
        add(row, 1, now - call.since)
        if not call.is_counted then add(row, 2, 1) end
        add(row, 3, now - call.began)
        call.since, call.is_counted = now, true
      end
    end
  end,
}
