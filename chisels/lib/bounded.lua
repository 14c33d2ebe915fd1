-- SPDX-License-Identifier: Apache-2.0
-- A table with bounded memory, for what events refer to later: local bounded = require "bounded", then
-- bounded(N) makes one. It keeps at least the N keys that were put last, and at most 2 N.
--
-- Keys are in two halves of at most N. When the young half is full, the old one is evicted and the young
-- one takes its place. evicted(value), if given, is called with each value that is evicted.
local Bounded = {}
Bounded.__index = Bounded

-- Returns the value of the key, or nil.
function Bounded:get(key)
  local value = self.young[key]
  if value == nil then return self.old[key] end
  return value
end

-- Evicts the old half. `key` is not evicted: it is about to be put again.
function Bounded:evict(key)
  if self.evicted then
    for k, value in pairs(self.old) do
      if k ~= key then self.evicted(value) end
    end
  end
  self.young, self.old, self.n = {}, self.young, 0
end

function Bounded:put(key, value)
  if self.young[key] == nil then
    if self.n == self.max then self:evict(key) end
    self.n = self.n + 1
  end
  self.young[key], self.old[key] = value, nil
end

-- Removes the key and returns its value, or nil.
function Bounded:take(key)
  local value = self:get(key)
  if self.young[key] ~= nil then self.n = self.n - 1 end
  self.young[key], self.old[key] = nil, nil
  return value
end

-- For loops over keys and values, in no order.
function Bounded:each()
  return coroutine.wrap(function()
    for key, value in pairs(self.old) do coroutine.yield(key, value) end
    for key, value in pairs(self.young) do coroutine.yield(key, value) end
  end)
end

return function(max, evicted)
  return setmetatable({young = {}, old = {}, n = 0, max = max, evicted = evicted}, Bounded)
end
