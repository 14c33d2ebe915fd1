-- SPDX-License-Identifier: Apache-2.0
description = "Shows the processes that send and receive the most bytes through IPv4 and IPv6 sockets, including traffic within this machine."
short_description = "Top processes by bytes of network traffic"
category = "Net"

require "toplist" {
  filter = "fd.type in (ipv4, ipv6) and evt.io.bytes>0",
  keys = {{"PID", "proc.pid"}, {"PROCESS", "proc.aname[0]", name = "proc.name"}},
  values = require "iovalues"("RECEIVED", "SENT"),
}
