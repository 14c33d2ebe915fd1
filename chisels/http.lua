-- SPDX-License-Identifier: Apache-2.0
-- HTTP/1 exchanges as both ends see them: require "http". In a connection of a process, a request is
-- read and its answer is written, or the other way round. Messages may come in any pieces, may be cut
-- by the length to which buffers are kept, and are whatever the network sends.
local report = require "report"
local http = {}

-- So much of a buffer is kept while live; a head longer than the second is taken as it is by then.
local SNAPLEN, HEAD_MAX = 4000, 16000
-- Connections that are watched at once. Processes that end do not tell of closing theirs; when there
-- are too many, all are forgotten.
local WATCHED_MAX = 50000

-- ---- messages ----

local function header(head, name)
  for line in head:gmatch("\n([^\r\n]*)") do
    local key, value = line:match("^([^:%s]+):%s*(.-)%s*$")
    if key and key:lower() == name then return value end
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
  return tonumber((header(head, "content-length") or ""):match("^%d+$")) or 0
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
  if stream.rest then
    data, time, stream.rest = stream.rest .. data, stream.since, nil
  end
  while data ~= "" do
    local message = first_line(data)
    if not message then
      if n_lost == 0 and may_become(data) then stream.rest, stream.since = data, time end
      return
    end
    local _, last = data:find("\r?\n\r?\n")
    if not last and n_lost == 0 and #data < HEAD_MAX then
      stream.rest, stream.since = data, time
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

local connections, n_connections = {}, 0
local handles = {}

local function make_connection()
  local function stream() return {skip = 0} end
  return {read = stream(), write = stream(), pending = {}}
end

local function host_of(head)
  return header(head, "host") or ""
end

local function url_of(target, head)
  local url = target:sub(1, 1) == "/" and host_of(head) .. target or target
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
    exchange.peer = ip and port and (ip:find(":") and "[%s]:%d" or "%s:%d"):format(ip, port) or nil
    c.pending[#c.pending + 1] = exchange
    return body_length(message, head)
  end
  local exchange = c.pending[1]
  if (c.side == "client") == (dir == "write") then return 0 end -- no answer to what was asked
  if exchange and (message.status >= 200 or message.status == 101) then
    table.remove(c.pending, 1)
    exchange.status = message.status
    exchange.time, exchange.latency = time, time - exchange.time
    exchange.size = tonumber((header(head, "content-length") or ""):match("^%d+$"))
    done(exchange)
  end
  return body_length(message, head, exchange)
end

local function unanswered(c, done)
  for _, exchange in ipairs(c.pending) do done(exchange) end
end

-- In on_init.
function http.init()
  for key, name in pairs {
    time = "evt.rawtime", pid = "proc.pid", process = "proc.name", container = "container.name",
    connection = "fd.name", fd = "fd.num", client_ip = "fd.cip", client_port = "fd.cport",
    server_ip = "fd.sip", server_port = "fd.sport",
    dir = "evt.io_dir", n = "evt.rawres", data = "evt.rawarg.data",
  } do handles[key] = chisel.request_field(name) end
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
  local c, dir = connections[key], evt.field(handles.dir)
  if not dir then
    if c then
      unanswered(c, done)
      connections[key], n_connections = nil, n_connections - 1
    end
    return
  end
  local data = evt.field(handles.data)
  if not data or (not c and not first_line(data) and not may_become(data)) then return end
  if not c then
    if n_connections >= WATCHED_MAX then connections, n_connections = {}, 0 end
    c = make_connection()
    connections[key], n_connections = c, n_connections + 1
  end
  feed(c[dir], data, evt.field(handles.n), evt.field(handles.time), function(message, head, time)
    return on_message(c, dir, message, head, time, done)
  end)
end

-- In on_capture_end: requests that still wait.
function http.rest(done)
  local list = {}
  for _, c in pairs(connections) do table.move(c.pending, 1, #c.pending, #list + 1, list) end
  table.sort(list, function(a, b) return a.time < b.time end)
  unanswered({pending = list}, done)
end

return http
