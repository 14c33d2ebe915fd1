-- SPDX-License-Identifier: Apache-2.0
-- The values that requests_top and servicemap count of requests, as toplist takes them:
-- require "requestvalues"(QUANTILES, MORE), with the quantiles of the latency in percent, and more values
-- behind these.
local function latency(percent)
  return {"P" .. percent, name = "p" .. percent, kind = "time", field = "request.latency", quantile = percent / 100,
          unknown = true}
end

return function(percents, more)
  local values = {
    {"REQUESTS", name = "requests", count = true},
    {"FAILED", name = "failed", count = true, when = "request.failed"},
  }
  for _, percent in ipairs(percents) do values[#values + 1] = latency(percent) end
  values[#values + 1] = {"LONGEST", name = "longest", kind = "time", field = "request.latency", max = true}
  return table.move(more, 1, #more, #values + 1, values)
end
