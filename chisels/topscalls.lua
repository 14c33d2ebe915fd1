-- SPDX-License-Identifier: Apache-2.0
description = "Shows the most frequent syscalls, with the number of failures and the time. A call counts once, when it ends; sysdig counts some calls twice, when they begin and when they end. A filter selects calls: proc.name=nginx, thread.tid=4711, fd.name contains /var/log."
short_description = "Top syscalls by number of calls"
category = "Performance"

require "toplist" {
  top = 30,
  filter = "syscall.type exists and " .. require "report".is_end,
  keys = {{"CALL", "evt.type"}},
  values = require "callvalues"("calls", "errors", "time_ns", "slowest_ns"),
}
