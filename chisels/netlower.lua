-- SPDX-License-Identifier: Apache-2.0
description = "Slow reads, writes and connects of network connections. A non-blocking connect takes until the process reads its result. RESULT is the number of bytes, or the error. Red lines are failures, yellow ones took at least ten times the threshold. Time in poll, select or epoll does not count: see scallslower."
short_description = "Trace slow network I/O"
category = "Performance"

require "slowcalls"(
  "fd.type in (ipv4, ipv6) and (evt.is_io=true or evt.type=connect)",
  "CONNECTION", "fd.name", true, true)
