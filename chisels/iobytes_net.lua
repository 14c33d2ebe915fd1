-- SPDX-License-Identifier: Apache-2.0
description = "Bytes sent and received through IPv4 and IPv6 sockets, second by second."
short_description = "Bytes of network traffic, second by second"
category = "Net"

require "bytesums" "fd.type in (ipv4, ipv6)"
