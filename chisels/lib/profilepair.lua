-- SPDX-License-Identifier: Apache-2.0
-- The samples of two capture files, for flamediff and stackdiff: require "profilepair". The samples of the
-- first file are `before`, all others `after`.
local stacks = require "stacks"
local pair = {}

function pair.new(opts)
  -- PIDs differ between the captures, so processes are compared by name.
  opts = opts or {}
  opts.by_name = true
  local before, after = stacks.new(opts), stacks.new(opts)
  local capture, first = chisel.request_field("evt.capture"), nil
  return {
    before = before, after = after,
    add = function()
      first = first or sysdig.get_evtsource_name()
      local side = evt.field(capture) == first and before or after
      side:add()
    end,
    is_empty = function() return before:is_empty() or after:is_empty() end,
  }
end

-- Returns percent. Two captures never have the same length, so only shares can be compared.
function pair.share(value, total) return total > 0 and 100 * value / total or 0 end

return pair
