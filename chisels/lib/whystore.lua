-- SPDX-License-Identifier: Apache-2.0
-- The last slices, requests and samples of all threads, in bounded memory, for the chisel why: require
-- "whystore". store:init() requests the fields; store:note() keeps the current event, and returns it if it
-- is a request.
local report = require "report"
local bounded = require "bounded"
local threadlog = require "threadlog"
local spans = require "spans"

local SLICES_MAX, REQUESTS_MAX, SAMPLES_MAX, THREADS_MAX = 200000, 30000, 50000, 20000
local NAME_MAX = 60
local FILTER = "evt.type in (slice, request, sample)"

local Store = {}
Store.__index = Store

local field = evt.field
local of_thread, of_slice, of_request, of_sample

function Store:init()
  of_thread = report.fields {tid = "thread.tid", name = "thread.name", pid = "proc.pid", process = "proc.name"}
  of_slice = report.fields {
    kind = "thread.slice.kind", begin = "thread.slice.start", ns = "thread.slice.ns", call = "thread.slice.call",
    object = "thread.slice.object", lock = "thread.slice.lock", waker = "thread.slice.waker",
    waker_comm = "thread.slice.waker.comm", behind = "thread.slice.behind", behind_comm = "thread.slice.behind.comm",
  }
  of_request = report.fields {
    begin = "request.begin", latency = "request.latency", send = "request.send", ttfb = "request.ttfb",
    side = "request.side", proto = "request.proto", method = "request.method", resource = "request.resource",
    statement = "request.query", status = "request.status", error = "request.error", peer = "request.peer",
    peer_proc = "request.peer_proc", conn = "request.conn", tid = "request.tid", seen = "evt.rawtime",
    container = sysdig.is_print_container_data() and "container.name" or nil,
  }
  of_sample = report.fields {
    reason = "sample.reason", weight = "sample.weight", time = "evt.rawtime", script = "stack.lang.top",
    func = "stack.function",
  }
end

-- Returns the text on one line, of a bounded length: any process can make up long names.
local TEXT_MAX = 100
local function line(text)
  text = text and report.line(tostring(text))
  return text and #text > TEXT_MAX and report.cut_middle(text, TEXT_MAX) or text
end

function Store:note_thread(tid, begin)
  local t = self.threads:get(tid)
  if not t then
    t = {born = begin and begin > (self.first_ns or begin) and begin or nil}
    self.threads:put(tid, t)
  end
  t.name = line(field(of_thread.name)) or t.name
  t.process, t.pid = line(field(of_thread.process)) or t.process, field(of_thread.pid) or t.pid
end

-- Tasks that run are most slices, and have nothing else.
function Store:note_slice(tid, begin)
  local kind, e = field(of_slice.kind), begin + field(of_slice.ns)
  local slice = {begin, e, kind}
  if kind == "runnable" then
    slice.behind, slice.behind_comm = field(of_slice.behind), line(field(of_slice.behind_comm))
  elseif kind ~= "running" then
    slice.call, slice.object, slice.lock = field(of_slice.call), line(field(of_slice.object)), field(of_slice.lock)
    slice.waker, slice.waker_comm = field(of_slice.waker), line(field(of_slice.waker_comm))
  end
  self.first_ns = self.first_ns or begin
  self:note_thread(tid, begin)
  self.slices:add(tid, slice)
  self.now = math.max(self.now, e)
  if kind ~= "running" and kind ~= "unknown" then self.has_waits = true end
end

-- Returns the name of the request: protocol, method and resource; of HTTP without the protocol. Also
-- returns that without the resource.
local function name_of()
  local proto, method = field(of_request.proto) or "request", field(of_request.method)
  local what = field(of_request.resource) or field(of_request.statement)
  local group = method and (proto == "http" and method or proto .. " " .. method) or proto
  group = line(group)
  return what and report.cut(line(group .. " " .. what), NAME_MAX) or group, group
end

local function add_request(log, key, r)
  log:add(key, r)
  spans.added(log:of(key))
end

function Store:note_request(tid, begin)
  local latency, send, ttfb = field(of_request.latency), field(of_request.send), field(of_request.ttfb)
  if not latency then return nil end
  local name, group = name_of()
  local r = {
    name = name, group = group, b = begin, e = begin + latency, sent = begin + (send or 0), answered = send and ttfb and begin + send + ttfb,
    seen = field(of_request.seen), side = field(of_request.side), conn = line(field(of_request.conn)), last_tid = tid,
    tid = field(of_request.tid), status = field(of_request.status),
    error = line(field(of_request.error)), peer = line(field(of_request.peer)),
    peer_proc = line(field(of_request.peer_proc)), container = line(field(of_request.container)),
  }
  self:note_thread(tid)
  local log = r.side == "server" and self.served or self.calls
  add_request(log, tid, r)
  if r.tid and r.tid ~= tid then add_request(log, r.tid, r) end
  if r.side == "server" and r.conn then add_request(self.at_conn, r.conn, r) end
  return r
end

-- Returns the innermost function: of a script with the name of its file, without the folder.
local function function_of()
  local script = field(of_sample.script)
  local name, place = (script or ""):match("^(.*) (%b())$")
  if name then return line(name .. " (" .. report.base_name(place:sub(2))) end
  return line(script or field(of_sample.func))
end

function Store:note_sample(tid)
  if field(of_sample.reason) ~= "cpu" then return end
  self.samples:add(tid, {ns = field(of_sample.time), weight = field(of_sample.weight) or 1, func = function_of()})
end

-- Keeps the current event. Returns its request, if it is one.
function Store:note()
  local tid, begin = field(of_thread.tid), field(of_slice.begin)
  if not tid then return nil end
  if begin then
    self:note_slice(tid, begin)
    return nil
  end
  begin = field(of_request.begin)
  if begin then return self:note_request(tid, begin) end
  self:note_sample(tid)
end

-- Whether the slices of the thread reach `ns`.
function Store:reaches(tid, ns)
  local list = self.slices:of(tid)
  return list and list[list.last][2] >= ns or false
end

return {
  filter = FILTER,
  new = function()
    return setmetatable({
      slices = threadlog.new(SLICES_MAX), calls = threadlog.new(REQUESTS_MAX, spans.evicted),
      served = threadlog.new(REQUESTS_MAX, spans.evicted), at_conn = threadlog.new(REQUESTS_MAX, spans.evicted),
      samples = threadlog.new(SAMPLES_MAX), threads = bounded(THREADS_MAX),
      has_waits = false, now = 0,
    }, Store)
  end,
}
