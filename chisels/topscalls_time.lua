-- SPDX-License-Identifier: Apache-2.0
description = "Shows the syscalls in which threads spent the most time, working or waiting. The filter 'evt.is_wait=false' leaves out calls that wait for something, such as poll. Other filters select processes and files: proc.name=nginx, thread.tid=4711, fd.name contains /var/log."
short_description = "Top syscalls by time spent in them"
category = "Performance"

require "toplist" {
  top = 30,
  filter = "syscall.type exists and " .. require "report".is_end,
  keys = {{"CALL", "evt.type"}},
  values = require "callvalues"("time_ns", "calls", "slowest_ns", "errors"),
}
