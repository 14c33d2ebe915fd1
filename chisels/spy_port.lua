-- SPDX-License-Identifier: Apache-2.0
description = "Shows the data exchanged over connections with the given port at either end. -x, -X, -A and -b select the format of the data. Reads are red and writes are blue."
short_description = "Show the data exchanged over an IP port"
category = "Net"

local report = require "report"

require "payload" {
  formatted = true,
  args = {{name = "host_port", argtype = "int", check = report.whole(1, 65535),
           description = "port of either end"}},
  filter = function(arg) return ("fd.port=%d"):format(arg.host_port) end,
}
