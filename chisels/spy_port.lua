-- SPDX-License-Identifier: Apache-2.0
description = "The data exchanged over connections with a port at either end. -x, -X, -A and -b choose how it looks. What is read is red, what is written is blue."
short_description = "Show the data exchanged over an IP port"
category = "Net"

local report = require "report"

require "payload" {
  as_asked = true,
  args = {{name = "host_port", argtype = "int", check = report.whole(1, 65535),
           description = "Port of either end"}},
  filter = function(arg) return ("fd.port=%d"):format(arg.host_port) end,
}
