-- SPDX-License-Identifier: Apache-2.0
description = "Lists TCP connections, one line for each when it ends: process, result of the connect, time until the process read that result, bytes received and sent, and time open. Non-blocking connects are included. Connections that are open when the capture ends are listed then, with the time so far. The OUTCOME is 'accepted' for the accepting end of a connection. It is EINPROGRESS if the process never read the result of the connect, for instance after a timeout of its own. Failures are red."
short_description = "List connections with outcome, times and bytes"
category = "Net"

local report = require "report"
local bounded = require "bounded"

report.args {report.color_arg}
-- Includes the enter of connect: a blocked connect is listed if the capture ends before it returns.
local FILTER = "(evt.dir=< or evt.type=connect) and fd.type in (ipv4, ipv6) and fd.l4proto=tcp and (evt.type in (connect, accept, accept4, close) or evt.io.bytes>0 or fd.connect.done=true)"
local MAX = 50000

local no_failures = {SUCCESS = true, accepted = true, EINPROGRESS = true}

local function failed(c) return c.outcome ~= nil and not no_failures[c.outcome] end

local function color(c) return failed(c) and "red" or c.outcome == "EINPROGRESS" and "yellow" or nil end

local function lasted(c) return not failed(c) and c.began and c.ended and c.ended - c.began or nil end

local function of(key) return function(c) return c[key] end end

local columns = {
  {"BEGAN", name = "began", kind = "clock", width = 12, of = of "began"},
  {"PID", name = "proc.pid", kind = "number", width = 7, of = of "pid"},
  {"PROCESS", name = "proc.name", width = 15, of = of "process"},
  {"OUTCOME", name = "outcome", width = 12, of = of "outcome"},
  {"CONNECT", name = "connect_ns", kind = "time", width = 8, of = of "connect_ns"},
  {"RECEIVED", name = "received", kind = "bytes", width = 8, of = of "received"},
  {"SENT", name = "sent", kind = "bytes", width = 8, of = of "sent"},
  {"OPEN", name = "open_ns", kind = "time", width = 8, of = lasted},
  {"CONNECTION", name = "fd.name", of = of "name"},
}

local handles, shown, put, finish, last = {}, nil, nil, nil, nil
local rows_of = {} -- by process: the keys of its rows in `open`, and their number `n`

local function show(c, ended)
  local rows = rows_of[c.pid]
  rows.keys[c.key], rows.n = nil, rows.n - 1
  if rows.n == 0 then rows_of[c.pid] = nil end
  c.ended = ended
  local row = {}
  for i, column in ipairs(shown) do row[i] = column.of(c) end
  put(row, color(c))
end

-- Open connections by process and file descriptor. The one without events for the longest time is evicted.
local open = bounded(MAX, function(c) show(c, last) end)

function on_init()
  handles = report.fields {
    time = "evt.rawtime", type = "evt.type", pid = "proc.pid", process = "proc.name", fd = "fd.num",
    name = "fd.name", outcome = "fd.connect.result", connect_ns = "fd.connect.latency", res = "evt.rawres",
    latency = "evt.latency", received = "evt.io.read_bytes", sent = "evt.io.write_bytes",
    is_thread_end = "thread.ismain", dir = "evt.dir", before = "evt.began_before",
  }
  if sysdig.is_print_container_data() then handles.container = chisel.request_field("container.name") end
  chisel.each_end()
  chisel.set_filter(("(%s) or evt.type=procexit"):format(FILTER))
  shown = report.named(report.with_container(columns))
  for _, c in ipairs(shown) do c.of = c.of or of "container" end
  put, finish = report.stream(shown)
  return true
end

local function field(name) return evt.field(handles[name]) end

local function close(key, ended)
  local c = open:take(key)
  if c then show(c, ended) end
end

-- Ends the connections of the process that exits. Runs for processes outside of the filter, too.
local function end_process()
  local pid = field("pid")
  last = field("time")
  local rows = rows_of[pid]
  if not rows or not field("is_thread_end") then return end
  local keys = {}
  for key in pairs(rows.keys) do keys[#keys + 1] = key end
  for _, key in ipairs(keys) do close(key, last) end
end

local function new(key, began)
  local c = {key = key, began = began, pid = field("pid"), process = field("process"), received = 0, sent = 0,
             container = handles.container and field("container") or nil}
  local rows = rows_of[c.pid] or {keys = {}, n = 0}
  rows_of[c.pid], rows.keys[key], rows.n = rows, true, rows.n + 1
  open:put(key, c)
  return c
end

-- A second connect of a socket that connects or is connected does not begin another connection.
local function connection(key, what)
  local c = open:get(key)
  if what == "accept" or what == "accept4" or what == "connect" and not (c and c.is_connect) then
    close(key)
    local latency = what == "connect" and field("latency") or 0
    c = new(key, not field("before") and last - latency or nil)
    c.is_connect = what == "connect"
    c.outcome = c.is_connect and "EINPROGRESS" or "accepted"
  end
  return c or new(key)
end

function on_capture_start()
  chisel.follow("evt.type=procexit", end_process)
  put()
  return true
end

function on_event()
  local what, pid = field("type"), field("pid")
  if what == "procexit" then
    end_process()
    return true
  end
  last = field("time")
  local key = ("%d %d"):format(pid or -1, field("fd") or -1)
  if what == "close" then
    local c = open:get(key)
    if c and c.is_connect then c.outcome = field("outcome") or c.outcome end
    close(key, last)
    return true
  end
  if (what == "accept" or what == "accept4") and (field("res") or -1) < 0 then return true end
  local c = connection(key, what)
  c.name = field("name") or c.name
  c.received, c.sent = c.received + (field("received") or 0), c.sent + (field("sent") or 0)
  if c.outcome ~= "accepted" and field("dir") == "<" then
    c.outcome, c.connect_ns = field("outcome"), field("connect_ns")
    if failed(c) then close(key) end
  end
  return true
end

function on_capture_end()
  local rest = {}
  for _, c in open:each() do rest[#rest + 1] = c end
  table.sort(rest, function(a, b)
    if a.began ~= b.began then return (a.began or 0) < (b.began or 0) end
    return (a.name or "") < (b.name or "")
  end)
  for _, c in ipairs(rest) do show(c, last) end
  finish("no TCP connections")
end
