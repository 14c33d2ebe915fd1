-- SPDX-License-Identifier: Apache-2.0
-- The last things that happened, by thread or by another key, in bounded memory: require "threadlog",
-- then threadlog.new(N) makes a log of at most N items in all. The oldest item of all is evicted first,
-- so an idle thread keeps its items while a busy one fills the log.
--
-- Items of a key are kept in the order in which they were added.
local Log = {}
Log.__index = Log

function Log:evict()
  local at = self.n_added % self.max + 1
  local list = self.queue[at]
  list[list.first] = nil
  list.first = list.first + 1
  if list.first > list.last then self.lists[list.key] = nil end
end

function Log:add(key, item)
  if self.n_added >= self.max then self:evict() end
  local list = self.lists[key]
  if not list then
    list = {key = key, first = 1, last = 0}
    self.lists[key] = list
  end
  list.last = list.last + 1
  list[list.last] = item
  self.queue[self.n_added % self.max + 1] = list
  self.n_added = self.n_added + 1
end

-- Returns the list of the key: its items are list[list.first] to list[list.last]. nil if it has none.
function Log:of(key) return self.lists[key] end

-- Returns the index of the first item whose `at(item)` is above `value`; list.last + 1 if there is none.
-- at() must not decrease along the list. Mostly a late item is searched: looks from the end on, each time twice as far.
local function search(list, value, at)
  local low, high, step = list.first, list.last + 1, 1
  while high - step > low do
    local index = high - step
    if at(list[index]) <= value then
      low = index + 1
      break
    end
    high, step = index, step * 2
  end
  while low < high do
    local middle = (low + high) // 2
    if at(list[middle]) > value then high = middle else low = middle + 1 end
  end
  return low
end

local function new(max)
  return setmetatable({max = max, lists = {}, queue = {}, n_added = 0}, Log)
end

return {new = new, search = search}
