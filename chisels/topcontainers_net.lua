-- SPDX-License-Identifier: Apache-2.0
description = "Shows the containers that send and receive the most bytes through IPv4 and IPv6 sockets. Processes outside of containers do not count."
short_description = "Top containers by bytes of network traffic"
category = "Net"

require "toplist" {
  no_container = true,
  filter = "fd.type in (ipv4, ipv6) and evt.io.bytes>0 and container.id!=host",
  keys = {require "report".container_key},
  values = require "iovalues"("RECEIVED", "SENT"),
}
