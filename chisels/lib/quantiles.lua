-- SPDX-License-Identifier: Apache-2.0
-- Quantiles of whole numbers with bounded memory: local quantiles = require "quantiles". h = {} is an empty
-- set; add(h, n) adds a number, merge(h, other) all of another set, and at(h, 0.99) returns the number that
-- 99 % do not exceed, at most 1/16 too large.
--
-- A set counts its numbers by range. Numbers below 32 have a range each; between two larger powers of two
-- are 16 ranges of the same width.
local quantiles = {}

local function range_of(n)
  if n < 16 then return n end
  local shift = 0
  while n >> shift >= 4096 do shift = shift + 8 end
  while n >> shift >= 32 do shift = shift + 1 end
  return shift + 1 << 4 | n >> shift & 15
end

local function last_of(range)
  if range < 32 then return range end
  local shift = (range >> 4) - 1
  return ((range & 15 | 16) + 1 << shift) - 1
end

function quantiles.add(h, n)
  local range = range_of(n)
  h[range] = (h[range] or 0) + 1
  h.n = (h.n or 0) + 1
  if n > (h.max or 0) then h.max = n end
end

function quantiles.merge(h, other)
  for key, n in pairs(other) do
    if key == "max" then h.max = math.max(h.max or 0, n) else h[key] = (h[key] or 0) + n end
  end
end

function quantiles.at(h, share)
  local ranges, n = {}, 0
  for key in pairs(h) do
    if math.type(key) == "integer" then ranges[#ranges + 1] = key end
  end
  table.sort(ranges)
  for _, range in ipairs(ranges) do
    n = n + h[range]
    if n >= h.n * share then return math.min(last_of(range), h.max) end
  end
end

return quantiles
