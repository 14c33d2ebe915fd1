-- SPDX-License-Identifier: Apache-2.0
description = "Shows slow reads, writes and connects of network connections. A non-blocking connect takes until the process reads its result. RESULT is the number of bytes, or the error. Failures are red; calls that took at least ten times the threshold are yellow. Time in poll, select or epoll does not count: scallslower shows it."
short_description = "Trace slow network I/O"
category = "Performance"

require "slowcalls"(
  "fd.type in (ipv4, ipv6) and (evt.is_io=true or evt.type=connect)",
  "CONNECTION", "fd.name", true, true)
