-- SPDX-License-Identifier: Apache-2.0
description = "Shows the TCP and UDP server ports with the most traffic, of servers on this machine or elsewhere."
short_description = "Top server ports by bytes of traffic"
category = "Net"

require "toplist" {
  filter = "fd.type in (ipv4, ipv6) and evt.io.bytes>0",
  keys = {{"PORT", "fd.sport"}, {"PROTO", "fd.l4proto"}},
  values = require "iovalues"("RECEIVED", "SENT"),
}
