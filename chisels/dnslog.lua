-- SPDX-License-Identifier: Apache-2.0
description = "Logs DNS questions and their answers, from what processes write and read: process, server, question, answer or error (RCODE), and latency. With a server on this machine there are two lines, one for each end. RCODE is 'unanswered' if the question was repeated, 10 seconds passed, or the capture ended before an answer came. It is 'malformed' for a message that is not valid DNS, with the reason."
short_description = "Log DNS questions, answers and latency"
category = "Net"

local report = require "report"
local bounded = require "bounded"
local dns = require "dns"
local messages_of = require "messages"

local SNAPLEN = 2000 -- bytes of a message that are parsed: more than UDP carries in practice
local PENDING_MAX = 10000 -- pending questions, at most
local PATIENCE = 10000000000 -- nanoseconds until a pending question counts as unanswered

local function ports(value)
  for port in value:gmatch("[^,]+") do
    local n = math.tointeger(tonumber(port))
    if not n or n < 1 or n > 65535 then return nil, "a port is needed, or several ports separated by commas" end
  end
  if value:match("^%d[%d,]*$") then return value end
  return nil, "a port is needed, or several ports separated by commas"
end

local arg = report.args {
  {name = "port", default = "53", check = ports,
   description = "ports of servers, separated by commas; 5353 is multicast DNS (53)"},
  {name = "name", optional = true, description = "only names that contain this text"},
  report.color_arg,
}

local fields, put, finish = {}, nil, nil
local pending, oldest, newest = {}, 1, 0 -- pending questions by key, and their numbers in `queue`
local queue = {}
local streams = bounded(1000) -- one direction of a TCP connection: {data, skip}, of an incomplete message
local bursts = bounded(1000) -- by file: sendmmsg with messages that were not captured: {time, server, left}

function on_init()
  fields = report.fields {
    time = "evt.rawtime", pid = "proc.pid", name = "proc.name", fd = "fd.num", proto = "fd.l4proto",
    file = "fd.name", ip = "fd.sip", port = "fd.sport", data = "evt.rawarg.data", len = "evt.buflen",
    writes = "evt.is_io_write", type = "evt.type", messages = "evt.rawres", latency = "evt.latency",
    entries = "evt.rawarg.messages",
  }
  sysdig.set_snaplen(SNAPLEN)
  chisel.set_filter(("evt.is_io=true and evt.dir=< and evt.rawres>0 and fd.l4proto in (udp, tcp) and " ..
                     "fd.port in (%s)"):format(arg.port))
  chisel.set_interval_s(1)
  put, finish = report.event_log {
    {"TIME", name = "time", kind = "clock", width = 12},
    {"PID", name = "proc.pid", kind = "number", width = 7},
    {"PROCESS", name = "proc.name", width = 15},
    {"SERVER", name = "server", width = 21},
    {"PROTO", name = "proto"},
    {"TYPE", name = "type", width = 5},
    {"RCODE", name = "rcode", width = 10},
    {"LATENCY", name = "latency", kind = "time", width = 8},
    {"NAME", name = "name", width = 28},
    {"ANSWERS", name = "answers"},
    {name = "truncated"},
  }
  return true
end

-- ---- questions ----

local function put_line(q, rcode, now, answers, truncated)
  if arg.name and not (q.name and q.name:lower():find(arg.name:lower(), 1, true)) then return end
  local text = answers
  if answers and not report.is_json() then text = table.concat(answers, ", ") end
  if text == "" then text = nil end
  put({now or q.time, q.pid, q.process, q.server, q.proto, q.type, rcode, now and q.time and now - q.time,
       q.name, text, truncated or nil},
      rcode ~= "NOERROR" and (rcode == "NXDOMAIN" and "yellow" or "red") or nil)
end

-- Prints and discards questions that are pending for longer than PATIENCE, and the oldest if there are too
-- many.
local function expire_old(now)
  while oldest <= newest do
    local q = queue[oldest]
    if pending[q.key] == q then
      if now - q.time < PATIENCE and newest - oldest < PENDING_MAX then return end
      put_line(q, "unanswered")
      pending[q.key] = nil
    end
    queue[oldest] = nil
    oldest = oldest + 1
  end
end

local function add_question(key, q)
  local before = pending[key]
  if before then put_line(before, "unanswered") end
  if newest - oldest >= PENDING_MAX then expire_old(q.time) end
  newest = newest + 1
  q.key, queue[newest], pending[key] = key, q, q
end

-- ---- messages ----

local function new_question()
  local field = evt.field
  return {time = field(fields.time), pid = field(fields.pid), process = field(fields.name),
          server = report.endpoint(field(fields.ip), field(fields.port)),
          proto = field(fields.proto)}
end

-- Returns the key of a question and its answer. The process is part of it: each end has a line of its own.
local function key_of(message)
  return ("%d %d %d %s %s"):format(evt.field(fields.pid) or -1, evt.field(fields.fd) or -1, message.id,
                                   message.type or "", (message.name or ""):lower())
end

local function on_message(data, is_whole)
  local message, why = dns.parse(data, is_whole)
  local q = new_question()
  if not message then
    put_line(q, "malformed", q.time, {why})
    return
  end
  local key = key_of(message)
  q.name, q.type = message.name, message.type
  if not message.is_answer then
    q.time = q.time - (evt.field(fields.writes) and evt.field(fields.latency) or 0)
    add_question(key, q)
    return
  end
  local now, question = q.time, pending[key]
  local burst = bursts:get((q.pid or -1) .. " " .. (evt.field(fields.fd) or -1))
  pending[key] = nil
  if question then
    q = question
  elseif burst and burst.left > 0 then
    q.time, q.server, burst.left = burst.time, burst.server, burst.left - 1
  else
    q.time = nil
  end
  put_line(q, message.rcode, now, message.answers, message.truncated or not is_whole)
end

-- Parses data of TCP: messages with their length in front, in pieces of any size. n: the bytes that were
-- transferred, of which the capture can have fewer.
local function on_stream(data, n)
  local key = ("%s %s %s %s"):format(evt.field(fields.pid), evt.field(fields.fd), evt.field(fields.file),
                                     evt.field(fields.writes))
  local s = streams:get(key) or {data = "", skip = 0}
  local missing = n - #data
  if s.skip > 0 then
    local skipped = math.min(s.skip, #data)
    data = data:sub(skipped + 1)
    s.skip = s.skip - skipped
    local gone = math.min(s.skip, missing)
    s.skip, missing = s.skip - gone, missing - gone
  end
  s.data = s.data .. data
  while #s.data >= 2 do
    local len = s.data:byte(1) << 8 | s.data:byte(2)
    if #s.data >= len + 2 then
      on_message(s.data:sub(3, len + 2), true)
      s.data = s.data:sub(len + 3)
    elseif missing > 0 then
      on_message(s.data:sub(3), false)
      s.skip = math.max(len + 2 - #s.data - missing, 0)
      s.data = ""
    else
      break
    end
  end
  if missing > 0 then s.data = "" end
  streams:put(key, s)
end

-- Parses the datagrams of sendmmsg or recvmmsg.
local function on_messages(data, writes)
  local field = evt.field
  local list = messages_of(data, field(fields.entries))
  local left = field(fields.messages) - #list
  for _, message in ipairs(list) do
    local is_whole = #message.data < SNAPLEN
    if message.size then is_whole = #message.data == message.size end
    on_message(message.data, is_whole)
  end
  if not writes or left < 1 then return end
  local q = new_question()
  bursts:put(q.pid .. " " .. field(fields.fd),
             {time = q.time - (field(fields.latency) or 0), server = q.server, left = left})
end

function on_event()
  local field = evt.field
  local data, n = field(fields.data), field(fields.len)
  if not data or not n then return true end
  local kind = field(fields.type)
  if field(fields.proto) == "tcp" then
    on_stream(data, n)
  elseif kind == "sendmmsg" or kind == "recvmmsg" then
    on_messages(data, kind == "sendmmsg")
  else
    on_message(data, #data == n)
  end
  return true
end

function on_interval(s, ns)
  expire_old(s * 1000000000 + ns)
  return true
end

function on_capture_end()
  expire_old(math.maxinteger)
  finish("no DNS messages")
end
