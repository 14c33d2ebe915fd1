-- SPDX-License-Identifier: Apache-2.0
description = "Reads and writes of network connections, and connects, that took long; those that did not block, until the process learnt their outcome. The result is the number of bytes, or the error. Red lines are failures, yellow ones took ten times as long as asked for. Waiting in poll and its like does not count: scallslower shows it."
short_description = "Trace slow network I/O"
category = "Performance"

require "slowcalls"(
  "fd.type in (ipv4, ipv6) and (evt.is_io=true or evt.type=connect)",
  "CONNECTION", "fd.name", true, true)
