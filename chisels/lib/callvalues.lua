-- SPDX-License-Identifier: Apache-2.0
-- What topscalls and topscalls_time count of system calls that have ended: require "callvalues"(NAME, ...),
-- the names of the values in their order.
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
