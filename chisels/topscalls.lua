-- SPDX-License-Identifier: Apache-2.0
description = "System calls by how often they were made, with how many of them failed and the time they took. Each counts once, when it ends; those that sysdig counts also as they begin count twice there. A filter tells whose: proc.name=nginx, thread.tid=4711, fd.name contains /var/log."
short_description = "Top system calls by number of calls"
category = "Performance"

require "toplist" {
  top = 30,
  filter = "syscall.type exists and evt.dir=<",
  keys = {{"CALL", "evt.type"}},
  values = require "callvalues"("calls", "errors", "time_ns", "slowest_ns"),
}
