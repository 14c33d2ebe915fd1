-- SPDX-License-Identifier: Apache-2.0
-- Finds the items of a list of a threadlog that overlap a span of time: require "spans". Items are {b, e}:
-- begin and end. A tree over the list has the first begin and the last end of each 2^level items, so that
-- whole runs of items are skipped, also if some of them are very long.
--
-- Invariant: the block `at` of a level is about the items at << level to (at + 1) << level of the list, as
-- far as they were added. Blocks whose items are all evicted are removed.
local spans = {}
local LEVEL_MAX = 20

-- Adds the last item of the list to its tree.
function spans.added(list)
  local item, i = list[list.last], list.last
  list.begins, list.ends = list.begins or {}, list.ends or {}
  for level = 1, LEVEL_MAX do
    local begins, ends, at = list.begins[level] or {}, list.ends[level] or {}, i >> level
    begins[at], ends[at] = math.min(begins[at] or item.b, item.b), math.max(ends[at] or item.e, item.e)
    list.begins[level], list.ends[level] = begins, ends
    if at << level <= list.first then return end -- no search reaches a block that begins here
  end
end

-- Removes the blocks that end with the item at `i`, which is evicted.
function spans.evicted(list, i)
  for level = 1, #(list.begins or {}) do
    if (i + 1) % (1 << level) ~= 0 then return end
    list.begins[level][i >> level], list.ends[level][i >> level] = nil, nil
  end
end

-- Returns the index of the first item from `i` on that begins before `b` and ends after `a`; nil: none.
function spans.next(list, i, a, b)
  local level, at = 0, i
  while at << level <= list.last do
    local first, last
    if level == 0 then
      first, last = list[at].b, list[at].e
    else
      first, last = list.begins[level][at], list.ends[level][at]
    end
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
