-- SPDX-License-Identifier: Apache-2.0
description = "Logs HTTP/1 requests and their answers, on servers and on clients. LATENCY is the time until the answer begins. A request without a STATUS had no answer when its connection was closed or the capture ended. A status of 500 or more is red, of 400 or more yellow. The capture needs enough bytes of each message: a live one keeps 4000; record a file with -s 4000. Encrypted connections and HTTP/2 are not shown."
short_description = "Log HTTP requests and their answers"
category = "Application"

local report = require "report"
local http = require "http"

report.args {report.color_arg}

local columns = report.with_container {
  {"TIME", "time", kind = "clock", width = 12},
  {"SIDE", "side", width = 6},
  {"PID", "pid", kind = "number", width = 7},
  {"PROCESS", "process", width = 15},
  {"PEER", "peer", width = 21},
  {"STATUS", "status", kind = "number"},
  {"LATENCY", "latency", kind = "time", width = 8},
  {"SIZE", "size", kind = "bytes", width = 6},
  {"METHOD", "method"},
  {"URL", "url"},
}
report.named(columns)

local put, finish

local function color(status)
  if not status or status >= 500 then return "red" end
  return status >= 400 and "yellow" or nil
end

local function done(exchange)
  exchange["container.name"] = exchange.container
  put(exchange, color(exchange.status))
end

function on_init()
  http.init()
  put, finish = report.object_log(columns)
  return true
end

function on_event()
  http.event(done)
  return true
end

function on_capture_end()
  http.rest(done)
  finish("no HTTP requests")
  local note = http.note()
  if note then sysdig.log(note, "warning") end
end
