-- SPDX-License-Identifier: Apache-2.0
description = "Network connections with most traffic, from client to server. Of one within the machine the bytes count twice, as both ends of it are seen."
short_description = "Top network connections by bytes"
category = "Net"

require "toplist" {
  filter = "fd.type in (ipv4, ipv6) and evt.io.bytes>0",
  keys = {{"PROTO", "fd.l4proto"}, {"CONNECTION", "fd.name"}},
  values = require "iovalues"("RECEIVED", "SENT"),
}
