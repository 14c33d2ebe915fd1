-- SPDX-License-Identifier: Apache-2.0
-- HTTP/1 exchanges as both ends see them: require "http". In a connection of a process, a request is
-- read and its answer is written, or the other way round. Messages may come in any pieces, may be cut
-- by the length to which buffers are kept, and are whatever the network sends.
local report = require "report"
local bounded = require "bounded"
local http = {}

-- So much of a buffer is kept while live; a head longer than the second is taken as it is by then.
local SNAPLEN, HEAD_MAX = 4000, 16000
-- Connections that are watched at once: the last so many in which something came, at most twice as many.
local WATCHED_MAX = 10000
-- Requests of a connection that wait for answers, and of all: a peer may send any number in one go
-- (pipelining) and read no answer. What is beyond that is counted, not kept.
local PENDING_MAX, PENDING_ALL_MAX = 100, 50000
local URL_MAX = 2000 -- bytes of a URL that are kept
local RESTS_MAX = 64000000 -- bytes of heads that are not whole yet, of all connections

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

-- Whether more bytes could make a message of it.
local function may_become(data)
  if #data > HEAD_MAX or data:find("\n") then return false end
  return data:find("^HT?T?P?$") or data:find("^HTTP/") or data:find("^%u[%u-]*$")
    or data:find("^%u[%u-]* %S+$") or data:find("^%u[%u-]* %S+ H?T?T?P?/?1?%.?%d?\r?$")
end

-- ---- one direction of a connection ----

-- Bytes of a message's body that follow its head; unknown for those that come in chunks: then the next
-- message is looked for at the beginning of each piece.
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

-- stream: {rest = bytes of an unfinished head, since = its time, skip = of a body}. Calls
-- found(message, head, time), which returns the length of the body.
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

local n_pending, n_dropped = 0, 0 -- requests: that wait, and that were not kept

-- A connection is not watched any more.
local function forget(c)
  take_rest(c.read)
  take_rest(c.write)
  n_pending = n_pending - (c.last - c.first + 1)
end

local connections = bounded(WATCHED_MAX, function(c)
  forget(c)
  n_dropped = n_dropped + c.last - c.first + 1
end)
local handles = {}

-- pending: requests that wait, in their order, from `first` to `last`; n_skipped: how many came after
-- these and were not kept.
local function make_connection()
  local function stream() return {skip = 0} end
  return {read = stream(), write = stream(), pending = {}, first = 1, last = 0, n_skipped = 0}
end

-- Those that come after one that was not kept are not kept either, else they would get its answer.
local function push(c, exchange)
  local n = c.last - c.first + 1
  if c.n_skipped > 0 or n >= PENDING_MAX or n_pending >= PENDING_ALL_MAX then
    c.n_skipped, n_dropped = c.n_skipped + 1, n_dropped + 1
    return
  end
  c.last, n_pending = c.last + 1, n_pending + 1
  c.pending[c.last] = exchange
end

-- Takes away the request that is answered next; nil if it was not kept.
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
  if (c.side == "client") == (dir == "write") then return 0 end -- no answer to what was asked
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
  forget(c)
end

-- In on_init.
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

-- In on_event. done(exchange) is called for each that has an answer now, or never will: `side`
-- (client or server), `time` of the answer or else of the request, `pid`, `process`, `container`,
-- `connection`, `peer`, `method`, `url`, and with an answer `status`, `latency` until it began, and
-- `size` of its body, if it says so.
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

-- In on_capture_end: requests that still wait.
function http.rest(done)
  local list = {}
  for _, c in connections:each() do table.move(c.pending, c.first, c.last, #list + 1, list) end
  table.sort(list, function(a, b) return a.time < b.time end)
  for _, exchange in ipairs(list) do done(exchange) end
end

-- A sentence about what was not kept, or nil.
function http.note()
  if n_dropped == 0 then return nil end
  return ("%d requests were not counted: more than %d of a connection, or %d of all, waited for an answer")
    :format(n_dropped, PENDING_MAX, PENDING_ALL_MAX)
end

return http
