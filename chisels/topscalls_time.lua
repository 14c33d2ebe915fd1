-- SPDX-License-Identifier: Apache-2.0
description = "System calls by the time that threads spent in them, working or waiting. 'evt.is_wait=false' as a filter leaves out those that only wait for something, such as poll. A filter also tells whose: proc.name=nginx, thread.tid=4711, fd.name contains /var/log."
short_description = "Top system calls by time spent in them"
category = "Performance"

require "toplist" {
  top = 30,
  filter = "syscall.type exists and evt.dir=<",
  keys = {{"CALL", "evt.type"}},
  values = require "callvalues"("time_ns", "calls", "slowest_ns", "errors"),
}
