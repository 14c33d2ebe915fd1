-- SPDX-License-Identifier: Apache-2.0
-- Finds the items of a list that overlap a span of time: require "spans". Items are {b, e}:
-- begin and end. A tree over the list has the first begin and the last end of each 2^level items, so that
-- whole runs of items are skipped, also if some of them are very long.
--
-- Invariant: a block `at` of a level is about the items at << level to (at + 1) << level of the list, and
-- is made when the last of them is added: two blocks for each item in all.
local spans = {}
local LEVEL_MAX = 20

-- Returns the first begin and the last end of an item, or of a block of the level.
local function span_of(list, level, at)
  if level > 0 then return list.begins[level][at] or math.huge, list.ends[level][at] or -math.huge end
  local item = list[at]
  if item then return item.b, item.e end
  return math.huge, -math.huge
end

-- Adds the last item of the list to its tree.
function spans.added(list)
  local begins, ends, i = list.begins, list.ends, list.last
  if not begins then
    begins, ends = {}, {}
    list.begins, list.ends = begins, ends
  end
  for level = 1, LEVEL_MAX do
    if (i + 1) % (1 << level) ~= 0 then return end
    local at = i >> level
    local b1, e1 = span_of(list, level - 1, at * 2)
    local b2, e2 = span_of(list, level - 1, at * 2 + 1)
    if not begins[level] then begins[level], ends[level] = {}, {} end
    begins[level][at], ends[level][at] = math.min(b1, b2), math.max(e1, e2)
  end
end

-- Returns the index of the first item from `i` on that begins before `b` and ends after `a`; nil: none.
function spans.next(list, i, a, b)
  local level, at = 0, i
  while at << level <= list.last do
    local first, last = -math.huge, math.huge
    if (at + 1) << level <= list.last + 1 then first, last = span_of(list, level, at) end -- else not all are there yet
    if first < b and last > a then
      if level == 0 then return at end
      level, at = level - 1, at * 2
    else
      at = at + 1
      while at % 2 == 0 and level < LEVEL_MAX do level, at = level + 1, at // 2 end
    end
  end
end

return spans
