-- SPDX-License-Identifier: Apache-2.0
description = "HTTP/1 requests and how they were answered, as servers and as clients see them. The latency ends where the answer begins. A request without a status was not answered until its connection was closed or the capture ended. Answers from 500 on are red, from 400 on yellow. A capture has to have enough of each message: 4000 bytes are kept live, -s says how many otherwise. What is encrypted is not seen, nor is HTTP/2."
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
