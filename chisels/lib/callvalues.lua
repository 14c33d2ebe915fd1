-- SPDX-License-Identifier: Apache-2.0
-- The values that topscalls and topscalls_time count of each syscall: require "callvalues"(NAME, ...)
-- returns those with these names, in this order, as toplist takes them.
local rows = {
  calls = {"CALLS", count = true},
  errors = {"ERRORS", field = "evt.count.error"},
  time_ns = {"TIME", kind = "time", field = "evt.latency"},
  slowest_ns = {"SLOWEST", kind = "time", field = "evt.latency", max = true},
}

return function(...)
  local values = {}
  for i, name in ipairs {...} do
    values[i] = rows[name]
    values[i].name = name
  end
  return values
end
