-- SPDX-License-Identifier: Apache-2.0
description = "Shows the bytes received and sent through IPv4 and IPv6 sockets in each second."
short_description = "Bytes of network traffic, second by second"
category = "Net"

require "bytesums" "fd.type in (ipv4, ipv6)"
