-- SPDX-License-Identifier: Apache-2.0
-- A parser of HTTP/1 requests and answers, for httplog and httptop: require "http". A server reads the
-- request and writes the answer; a client the other way round. Messages are hostile, come in pieces of any
-- size, and may be cut where the capture kept only part of a buffer.
local report = require "report"
local bounded = require "bounded"
local http = {}

-- Bytes of each buffer to keep, live; and of a head: a longer one is parsed as far as it goes.
local SNAPLEN, HEAD_MAX = 4000, 16000
-- Connections that are kept: at least the last N with a message, at most 2 N.
local WATCHED_MAX = 10000
-- Pending requests of one connection, and of all. A peer may send any number (pipelining) and read no
-- answer: those beyond the limits are counted, not kept.
local PENDING_MAX, PENDING_ALL_MAX = 100, 50000
local URL_MAX = 2000 -- bytes; the rest of a URL is cut
local RESTS_MAX = 64000000 -- bytes of incomplete heads, of all connections

-- ---- messages ----

local function header(head, name)
  for line in head:gmatch("\n([^\r\n]*)") do
    local key, value = line:match("^([^:%s]+):%s*(.*)$")
    if key and key:lower() == name then return value:match("^.*%S") or "" end
  end
end

local function first_line(data)
  local method, target = data:match("^(%u[%u-]+) (%S+) HTTP/1%.%d\r?\n")
  if method then return {method = method, target = target} end
  local status = data:match("^HTTP/1%.%d (%d%d%d)[^\n]*\n")
  if status then return {status = tonumber(status)} end
end

-- Whether the data can be the beginning of a message.
local function may_become(data)
  if #data > HEAD_MAX or data:find("\n") then return false end
  return data:find("^HT?T?P?$") or data:find("^HTTP/") or data:find("^%u[%u-]*$")
    or data:find("^%u[%u-]* %S+$") or data:find("^%u[%u-]* %S+ H?T?T?P?/?1?%.?%d?\r?$")
end

-- ---- one direction of a connection ----

-- Returns the bytes of the body after the head. They are unknown for a chunked body: then it returns 0, and
-- the caller tries each later piece as the beginning of a message.
local function body_length(message, head, answers)
  if message.status then
    local none = message.status < 200 or message.status == 204 or message.status == 304
    if none or (answers and answers.method == "HEAD") then return 0 end
  end
  return report.size(header(head, "content-length")) or 0
end

local n_rests = 0 -- bytes

local function keep_rest(stream, data, time)
  if n_rests + #data > RESTS_MAX then return end
  n_rests, stream.rest, stream.since = n_rests + #data, data, time
end

local function take_rest(stream)
  local rest = stream.rest or ""
  n_rests, stream.rest = n_rests - #rest, nil
  return rest
end

-- Parses data of one direction. stream: {rest = incomplete head, since = its time, skip = bytes of a body
-- that are still to come}. Calls found(message, head, time), which returns the length of the body.
local function feed(stream, data, n_moved, time, found)
  local n_lost = n_moved - #data
  if stream.skip > 0 then
    local n = math.min(stream.skip, n_moved)
    stream.skip = stream.skip - n
    if n >= #data then return end
    data = data:sub(n + 1)
  end
  if stream.rest then data, time = take_rest(stream) .. data, stream.since end
  while data ~= "" do
    local message = first_line(data)
    if not message then
      if n_lost == 0 and may_become(data) then keep_rest(stream, data, time) end
      return
    end
    local _, last = data:find("\r?\n\r?\n")
    if not last and n_lost == 0 and #data < HEAD_MAX then
      keep_rest(stream, data, time)
      return
    end
    local length = found(message, data:sub(1, last), time)
    local n_behind = last and #data - last + n_lost or 0
    stream.skip = math.max(length - n_behind, 0)
    if not last then return end
    data = data:sub(last + 1 + length)
  end
end

-- ---- connections ----

local n_pending, n_dropped = 0, 0 -- requests: pending, and not kept

-- Releases what a connection holds.
local function release(c)
  take_rest(c.read)
  take_rest(c.write)
  n_pending = n_pending - (c.last - c.first + 1)
end

local connections = bounded(WATCHED_MAX, function(c)
  release(c)
  n_dropped = n_dropped + c.last - c.first + 1
end)
local handles = {}

-- pending: the pending requests, oldest first, from `first` to `last`; n_skipped: the requests after these
-- that were not kept.
local function make_connection()
  local function stream() return {skip = 0} end
  return {read = stream(), write = stream(), pending = {}, first = 1, last = 0, n_skipped = 0}
end

-- After a request that was not kept, no later one is kept either: it would get the wrong answer.
local function push(c, exchange)
  local n = c.last - c.first + 1
  if c.n_skipped > 0 or n >= PENDING_MAX or n_pending >= PENDING_ALL_MAX then
    c.n_skipped, n_dropped = c.n_skipped + 1, n_dropped + 1
    return
  end
  c.last, n_pending = c.last + 1, n_pending + 1
  c.pending[c.last] = exchange
end

-- Removes and returns the request that is answered next; nil if it was not kept.
local function pop(c)
  local exchange = c.pending[c.first]
  if exchange then
    c.pending[c.first] = nil
    c.first, n_pending = c.first + 1, n_pending - 1
  elseif c.n_skipped > 0 then
    c.n_skipped = c.n_skipped - 1
  end
  return exchange
end

local function host_of(head)
  return header(head, "host") or ""
end

local function url_of(target, head)
  local url = target:sub(1, 1) == "/" and host_of(head) .. target or target
  if #url > URL_MAX then url = url:sub(1, URL_MAX) .. "..." end
  return (report.text(url):gsub("%s", "."))
end

local function on_message(c, dir, message, head, time, done)
  if message.method then
    c.side = dir == "write" and "client" or "server"
    local exchange = {time = time, side = c.side, method = message.method,
                      url = url_of(message.target, head)}
    for _, name in ipairs {"pid", "process", "container", "connection"} do
      exchange[name] = evt.field(handles[name])
    end
    local of = c.side == "client" and "server" or "client"
    local ip, port = evt.field(handles[of .. "_ip"]), evt.field(handles[of .. "_port"])
    exchange.peer = port and report.endpoint(ip, port)
    push(c, exchange)
    return body_length(message, head)
  end
  local exchange = c.pending[c.first]
  if (c.side == "client") == (dir == "write") then return 0 end -- an answer in the direction of requests
  if message.status >= 200 or message.status == 101 then
    pop(c)
    if exchange then
      exchange.status = message.status
      exchange.time, exchange.latency = time, time - exchange.time
      exchange.size = report.size(header(head, "content-length"))
      done(exchange)
    end
  end
  return body_length(message, head, exchange)
end

local function unanswered(c, done)
  for i = c.first, c.last do done(c.pending[i]) end
  release(c)
end

-- Requests the fields and sets the filter. In on_init.
function http.init()
  handles = report.fields {
    time = "evt.rawtime", pid = "proc.pid", process = "proc.name", container = "container.name",
    connection = "fd.name", fd = "fd.num", client_ip = "fd.cip", client_port = "fd.cport",
    server_ip = "fd.sip", server_port = "fd.sport",
    dir = "evt.io_dir", n = "evt.rawres", data = "evt.rawarg.data",
  }
  chisel.set_filter("evt.dir=< and fd.type in (ipv4, ipv6, unix) and "
    .. "((evt.is_io=true and evt.rawres>0) or evt.type=close)")
  sysdig.set_snaplen(SNAPLEN)
end

-- Parses the current event, in on_event. Calls done(exchange) for each request that has an answer now, or
-- whose connection is closed: `side` (client or server), `time` (of the answer, or else of the request),
-- `pid`, `process`, `container`, `connection`, `peer`, `method`, `url`; and with an answer `status`,
-- `latency` until it began, and `size` of its body if the head has it.
function http.event(done)
  local key = ("%d %d %s"):format(evt.field(handles.pid) or -1, evt.field(handles.fd) or -1,
                                  evt.field(handles.connection) or "")
  local c, dir = connections:get(key), evt.field(handles.dir)
  if not dir then
    if c then unanswered(connections:take(key), done) end
    return
  end
  local data = evt.field(handles.data)
  if not data or (not c and not first_line(data) and not may_become(data)) then return end
  c = c or make_connection()
  connections:put(key, c)
  feed(c[dir], data, evt.field(handles.n), evt.field(handles.time), function(message, head, time)
    return on_message(c, dir, message, head, time, done)
  end)
end

-- Calls done(exchange) for each pending request, in on_capture_end.
function http.rest(done)
  local list = {}
  for _, c in connections:each() do table.move(c.pending, c.first, c.last, #list + 1, list) end
  table.sort(list, function(a, b) return a.time < b.time end)
  for _, exchange in ipairs(list) do done(exchange) end
end

-- Returns a sentence about requests that were not kept, or nil.
function http.note()
  if n_dropped == 0 then return nil end
  return ("%d requests were not counted: more than %d of a connection, or %d of all, were pending")
    :format(n_dropped, PENDING_MAX, PENDING_ALL_MAX)
end

return http
