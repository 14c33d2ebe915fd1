-- SPDX-License-Identifier: Apache-2.0
description = "Counts requests by process, side, protocol, method and route: how many, how many of them failed, the latencies that half, 90 % and 99 % of them did not exceed, the longest, and the bytes. A route is the resource with * for each part that looks like an identifier. With group=service: by the process or address that answers, side and protocol; with group=statement: the statements of databases, scripts and DNS by process, side and protocol, with ? for each literal. A request between two processes of this machine counts twice, once at each end: the filter request.side=server leaves one."
short_description = "Top requests, with quantiles of their latency"
category = "Application"

local report = require "report"

-- By the argument group: the columns after PROCESS or SERVICE, SIDE and PROTO.
local GROUPS = {
  route = {{"METHOD", "request.method"}, {"ROUTE", "request.route"}},
  service = {},
  statement = {{"STATEMENT", "request.query"}},
}

local function keys(arg)
  local first = {"PROCESS", "proc.name"}
  if arg.group == "service" then first = {"SERVICE", "request.server", name = "service"} end
  local rows = {first, {"SIDE", "request.side"}, {"PROTO", "request.proto"}}
  return table.move(GROUPS[arg.group], 1, #GROUPS[arg.group], #rows + 1, rows)
end

require "toplist" {
  sort_as = "by",
  last_args = {{name = "group", default = "route", check = report.one_of {"route", "service", "statement"},
                description = "rows: route, service or statement (route)"}},
  filter = function(arg)
    return arg.group == "statement" and "evt.type=request and request.query exists" or "evt.type=request"
  end,
  nothing = "no requests",
  values = require "requestvalues"({50, 90, 99}, {
    {"IN", name = "bytes_in", kind = "bytes", field = "request.bytes_in"},
    {"OUT", name = "bytes_out", kind = "bytes", field = "request.bytes_out"},
  }),
  keys = keys,
}
