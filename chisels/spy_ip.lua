-- SPDX-License-Identifier: Apache-2.0
description = "Shows the data exchanged with an IP address, in both directions. -x, -X, -A and -b select the format of the data. Reads are red and writes are blue."
short_description = "Show the data exchanged with an IP address"
category = "Net"

local function address(text)
  if text:find("^%d+%.%d+%.%d+%.%d+$") or text:find("^[%x:.]*:[%x:.]*$") then return text end
  return nil, "an IPv4 or IPv6 address is needed"
end

require "payload" {
  formatted = true,
  args = {{name = "host_ip", check = address, description = "address of either end"}},
  filter = function(arg) return "fd.ip=" .. arg.host_ip end,
}
