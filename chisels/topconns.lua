-- SPDX-License-Identifier: Apache-2.0
description = "Shows the network connections with the most traffic, from client to server. The bytes of a connection between two processes of this machine count twice, once at each end."
short_description = "Top network connections by bytes"
category = "Net"

require "toplist" {
  filter = "fd.type in (ipv4, ipv6) and evt.io.bytes>0",
  keys = {{"PROTO", "fd.l4proto"}, {"CONNECTION", "fd.name"}},
  values = require "iovalues"("RECEIVED", "SENT"),
}
