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

-- Whether an item of the connection begins when a client sent a call. That may be the call of another request, and the
-- next call of the connection the right one.
function Slowest:has_moved(conn)
  for _, s in ipairs(self) do
    if s.begin ~= s.request.b and s.request.conn == conn then return true end
  end
  return false
end

-- Whether the request of the call could be among the slowest: no record ends later than `latest`.
function Slowest:may_be_slow(call)
  local least = self[self.top]
  return not least or self.latest - call.b > latency_of(least) or self:has_moved(call.conn)
end

function Slowest:consider_unread(call)
  local r = self:may_be_slow(call) and parts.find_served(self.store, call)
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

-- Considers a request of a server or a client, which the store has noted.
function Slowest:note(request, is_selected)
  request.is_selected = is_selected
  self.latest = math.max(self.latest, request.seen, request.e)
  local is_server = request.side == "server"
  if is_server and is_selected then self:insert(request, request.b) end
  if is_server and not is_selected then self.n_unmatched = self.n_unmatched + 1 end
  local call = is_server and parts.find_asked(self.store, request) or not is_server and request
  if call then self:consider_unread(call) end
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
