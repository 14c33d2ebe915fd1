-- SPDX-License-Identifier: Apache-2.0
description = "Shows the files on which processes spent the most time in reads and writes: the sum, the number of calls, and the slowest call."
short_description = "Top files by time spent in reads and writes"
category = "I/O"

require "toplist" {
  init = function() chisel.each_end() end,
  filter = "fd.type=file and (evt.is_io=true or evt.io.bytes exists) and evt.dir=<",
  keys = {{"FILE", "fd.name"}},
  values = {
    {"TIME", name = "time_ns", kind = "time", field = "evt.latency"},
    {"SLOWEST", name = "slowest_ns", kind = "time", field = "evt.latency", max = true},
    {"CALLS", name = "calls", count = true},
  },
}
