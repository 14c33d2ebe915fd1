-- SPDX-License-Identifier: Apache-2.0
-- The last requests of one side, for the chisel why: require "requestlog", then requestlog.new(CONDITION) keeps those
-- that match the condition, by thread and by connection. chisel.log keeps them without Lua; of those that are looked at, a
-- table is made: the same one as long as anything refers to it.
local report = require "report"
local slicelog = require "slicelog"
local line = slicelog.line
local requestlog = {}

local REQUESTS_MAX, NAME_MAX = 30000, 60
local FIELDS = {
  "request.begin", "request.latency", "request.send", "request.ttfb", "request.kind", "request.proto", "request.method",
  "request.resource", "request.query", "request.status", "request.error", "request.error_text", "request.peer",
  "request.peer_proc", "request.conn", "request.tid", "thread.tid", "evt.rawtime", "request.parent", "request.side",
  sysdig.is_print_container_data() and "container.name" or nil, -- the last one
}

-- Returns the name of the request: protocol, method and resource; of HTTP without the protocol. Also
-- returns that without the resource. A statement begins with its method itself.
local function name_of(kind, proto, method, resource, statement, peer)
  if kind == "connect" then
    local name = "connect to " .. line(peer or "?")
    return name, name
  end
  proto = proto or "request"
  local group = line(method and (proto == "http" and method or proto .. " " .. method) or proto)
  if not resource and not statement then return group, group end
  local name = resource and group .. " " .. resource or proto .. " " .. statement
  return report.cut(line(name), NAME_MAX), group
end

-- The arguments are in the order of FIELDS.
local function new_request(begin, latency, send, ttfb, kind, proto, method, resource, statement, status, error, error_text, peer,
                           peer_proc, conn, tid, last_tid, seen, parent, side, container)
  local name, group = name_of(kind, proto, method, resource, statement, peer)
  return {
    name = name, group = group, proto = proto, b = begin, e = begin + latency, sent = begin + (send or 0),
    answered = send and ttfb and begin + send + ttfb, seen = seen, side = side, key = conn, conn = line(conn), last_tid = last_tid,
    tid = tid, status = status, parent = parent, error = line(error), error_text = line(error_text), peer = line(peer),
    peer_proc = line(peer_proc), container = line(container),
  }
end

-- ---- lists ----

-- The requests of a key, list[list.first] to list[list.last], in the order in which they were seen.
local List = {}
local methods = {}

function List:__index(i)
  if methods[i] then return methods[i] end
  local number = math.type(i) == "integer" and self.log.all:number(self.key, i)
  return number and self.log:get(number) or nil
end

-- Returns the index of the first request that was seen after `ns`.
function methods:after(ns) return self.log.all:after(self.key, ns) end

-- Returns the requests that overlap [a, b), at most `max`.
function methods:overlapping(a, b, max)
  local all, key, found = self.log.all, self.key, {}
  local i = all:overlapping(key, all:after(key, a), a, b)
  while i and #found ~= max do
    found[#found + 1] = self[i]
    i = all:overlapping(key, i + 1, a, b)
  end
  return found
end

-- ---- the log ----

local Log = {}
Log.__index = Log

-- Returns the list of a TID or a connection; nil: it has none.
function Log:of(key)
  local first, last = self.all:span(key)
  return first and setmetatable({log = self, key = key, first = first, last = last}, List)
end

-- Returns the request of the number.
function Log:get(number)
  local r = self.made[number]
  if not r then
    r = new_request(self.all:values(number))
    r.is_selected = not self.unselected[number]
    self.made[number] = r
  end
  return r
end

-- Returns the number of the last request.
function Log:last() return (select(2, self.all:span())) end

-- Returns when the last request began and ended if it came since this was last asked; nil: none did.
function Log:take_times()
  local last = self:last()
  if last == self.taken then return nil end
  self.taken = last
  return self.all:times(last)
end

-- Notes that the filter did not select the last request.
function Log:unselect()
  local first, last = self.all:span()
  for number = self.forgotten, math.min(first - 1, self.last_unselected) do self.unselected[number] = nil end
  self.forgotten, self.last_unselected, self.unselected[last] = first, last, true
end

-- Whether any request of the connection that overlaps [a, b), of the first `max`, began before `ns`.
function Log:began_before(key, a, b, max, ns)
  local i = self.all:after(key, a)
  i = i and self.all:overlapping(key, i, a, b)
  for _ = 1, max do
    if not i then return false end
    if self.all:times(self.all:number(key, i)) < ns then return true end
    i = self.all:overlapping(key, i + 1, a, b)
  end
  return false
end

local BEGIN, LENGTH = "request.begin", "request.latency"
local FILTER = "evt.type=request and thread.tid exists and request.side exists and " .. slicelog.has_times(BEGIN, LENGTH) .. " and "

function requestlog.new(condition)
  return setmetatable({
    made = setmetatable({}, {__mode = "v"}), unselected = {}, forgotten = 1, last_unselected = 0, taken = 0,
    all = chisel.log {
      filter = FILTER .. condition, max = REQUESTS_MAX,
      keys = {"thread.tid", "request.tid", "request.conn"}, fields = FIELDS, begin = BEGIN, length = LENGTH,
    },
  }, Log)
end

return requestlog
