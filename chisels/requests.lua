-- SPDX-License-Identifier: Apache-2.0
description = "Logs the requests that sockets carry, when they end: HTTP, Redis, memcached, PostgreSQL, and pairs of sent and received bytes of other protocols. LATENCY is the time from the first byte of the request to the last of the response. Failed requests are red; those that took at least ten times the threshold are yellow. A request between two processes of this machine has a line for each end: the filter request.side=server leaves one. The capture needs enough bytes of each message: a live one keeps 2048."
short_description = "Log requests"
category = "Application"

local report = require "report"

require "eventlog" {
  args = {{name = "min_ms", argtype = "number", default = 0, check = report.milliseconds,
           description = "the threshold: requests that took at least this many milliseconds; 0: all (0)"}},
  columns = {
    {"TIME", "request.begin", name = "time", kind = "clock", width = 12},
    {"SIDE", "request.side", name = "side", width = 6},
    {"PID", "proc.pid", name = "pid", kind = "number", width = 7},
    {"PROCESS", "proc.name", name = "process", width = 15},
    {"PEER", "request.peer", name = "peer", width = 21},
    {"PROTO", "request.proto", name = "proto", width = 9},
    {"LATENCY", "request.latency", name = "latency", kind = "time", width = 8},
    {"IN", "request.bytes_in", name = "bytes_in", kind = "bytes", width = 6},
    {"OUT", "request.bytes_out", name = "bytes_out", kind = "bytes", width = 6},
    {"STATUS", "request.status", name = "status", kind = "number", width = 6},
    {"ERROR", "request.error", name = "error", width = 10},
    {"METHOD", "request.method", name = "method", width = 10},
    {"RESOURCE", "request.resource", name = "resource"},
  },
  filter = function(arg)
    local ns = math.floor(arg.min_ms * 1000000)
    return "evt.type=request" .. (ns > 0 and (" and request.latency>=%d"):format(ns) or "")
  end,
  color = function(row, arg)
    if row.error then return "red" end
    local ns = arg.min_ms * 1000000
    return ns > 0 and row.latency and row.latency >= 10 * ns and "yellow" or nil
  end,
  nothing = "no requests",
}
