-- SPDX-License-Identifier: Apache-2.0
description = "Counts requests by process, side, protocol, method and route: how many, how many of them failed, the latencies that half, 90 % and 99 % of them did not exceed, the longest, and the bytes. A route is the resource with * for each part that looks like an identifier. A request between two processes of this machine counts twice, once at each end: the filter request.side=server leaves one."
short_description = "Top requests, with quantiles of their latency"
category = "Application"

require "toplist" {
  sort_as = "by",
  filter = "evt.type=request",
  nothing = "no requests",
  values = require "requestvalues"({50, 90, 99}, {
    {"IN", name = "bytes_in", kind = "bytes", field = "request.bytes_in"},
    {"OUT", name = "bytes_out", kind = "bytes", field = "request.bytes_out"},
  }),
  keys = {
    {"PROCESS", "proc.name"},
    {"SIDE", "request.side"},
    {"PROTO", "request.proto"},
    {"METHOD", "request.method"},
    {"ROUTE", "request.route"},
  },
}
