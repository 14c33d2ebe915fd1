-- SPDX-License-Identifier: Apache-2.0
-- The slowest requests of servers so far: require "slowest", then slowest.new(store) makes a list of at most
-- list.top items {request, begin, root}, slowest first. root is what the chisel makes of an item; n_pending is the number of
-- items that have none yet. store is that of whystore.lua.
local parts = require "timeparts"

local Slowest = {}
Slowest.__index = Slowest

local function latency_of(s) return s.request.e - s.begin end

function Slowest:remove(at)
  local s = table.remove(self, at)
  if not s.root then self.n_pending = self.n_pending - 1 end
end

function Slowest:insert(request, begin)
  self.n_seen = self.n_seen + 1
  local s, at = {request = request, begin = begin}, #self + 1
  while at > 1 and latency_of(self[at - 1]) < latency_of(s) do at = at - 1 end
  if at > self.top then return end
  table.insert(self, at, s)
  self.n_pending = self.n_pending + 1
  if #self > self.top then self:remove(#self) end
end

-- A request of a client on this machine may have waited for its server to read it, for a tenth of its own time or more:
-- it begins when it was sent. If the client's record is selected, by its latency for example, the request is, unless the
-- client sent it for a request of its own. Either record may come last: the server's send may return after the client
-- has read.
local UNREAD_LEAST_NS, UNREAD_SHARE = 1000000, 10

-- Returns before which time a call of the connection must have begun to matter: the request could then be among the slowest,
-- as no record ends later than `latest`. Or an item of the connection begins when a client sent a call, which may be that of
-- another request: then the next call that overlaps it may be the right one.
function Slowest:time_of_calls(conn)
  local least = self[self.top]
  local ns = least and self.latest - latency_of(least) or math.maxinteger
  for _, s in ipairs(self) do
    if s.begin ~= s.request.b and s.request.key == conn then ns = math.max(ns, s.request.e) end
  end
  return ns
end

function Slowest:consider_unread(call)
  local r = call and call.b < self:time_of_calls(call.key) and parts.find_served(self.store, call)
  local unread = r and (r.is_selected or call.is_selected and not call.parent) and r.name == call.name and r.b - call.b or 0
  if unread < UNREAD_LEAST_NS or unread < (r.e - r.b) / UNREAD_SHARE then return end
  for i, s in ipairs(self) do
    if s.request == r then
      self:remove(i)
      break
    end
  end
  self:insert(r, call.b)
end

-- Returns the client's record of the server's request, which is the last one, if the client may have sent it so early that it
-- is among the slowest.
function Slowest:find_early(seen)
  local ns = self:time_of_calls(seen.conn)
  if not seen.conn or not self.store.calls:began_before(seen.conn, seen.b, seen.e, parts.SAME_CONN_MAX, ns) then return nil end
  return parts.find_asked(self.store, self.store.served:get(self.store.served:last()))
end

-- Considers a request of a server or a client, as the store's note() returns it.
function Slowest:note(seen, is_selected)
  local log = seen.is_server and self.store.served or self.store.calls
  if not is_selected then log:unselect() end
  self.latest = math.max(self.latest, seen.seen, seen.e)
  if not seen.is_server then
    if seen.b < self:time_of_calls(seen.conn) then self:consider_unread(log:get(log:last())) end
    return
  end
  local least = self[self.top]
  if not is_selected then
    self.n_unmatched = self.n_unmatched + 1
  elseif not least or seen.e - seen.b > latency_of(least) then
    self:insert(log:get(log:last()), seen.b)
  else
    self.n_seen = self.n_seen + 1
  end
  self:consider_unread(self:find_early(seen))
end

-- Removes the items that have a root, and returns them.
function Slowest:take_done()
  local done, left = {}, {}
  for _, s in ipairs(self) do
    local to = s.root and done or left
    to[#to + 1] = s
  end
  for i = 1, #self do self[i] = left[i] end
  return done
end

return {
  new = function(store)
    return setmetatable({store = store, top = 1, n_pending = 0, n_seen = 0, n_unmatched = 0, latest = 0}, Slowest)
  end,
}
