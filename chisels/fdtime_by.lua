-- SPDX-License-Identifier: Apache-2.0
description = "Counts the time spent in reads and writes, including waits, by any filter field: fd.name, fd.type, fd.cip, proc.name, ..."
short_description = "Time spent in I/O by a field of your choice"
category = "I/O"

require "toplist" {
  args = {{name = "key", check = require "report".field, description = "the field to count by, such as fd.name"}},
  filter = "(evt.is_io=true or evt.io.bytes exists) and evt.dir=<",
  keys = {{function(arg) return arg.key:upper() end, function(arg) return arg.key end}},
  values = {
    {"TIME", name = "time_ns", kind = "time", field = "evt.latency"},
    {"SLOWEST", name = "slowest_ns", kind = "time", field = "evt.latency", max = true},
    {"CALLS", name = "calls", count = true},
  },
}
