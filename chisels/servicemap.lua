-- SPDX-License-Identifier: Apache-2.0
description = "Counts requests by client, server and protocol: how many, how many failed, latencies that half and 99 % of them did not exceed, and the bytes that the client sent and received. Clients and servers are processes of this machine, else addresses. A request between two processes of this machine counts once, as the client saw it."
short_description = "Which process calls which service"
category = "Application"

local side, process, peer_process, peer, sent, received

-- Returns the address without the port, of which a client has a new one for each connection.
local function address(text) return text and (text:match("^(.*):%d+$") or text) end

local function own() return evt.field(process) end
local function other() return evt.field(peer_process) end

local function client_of()
  if evt.field(side) == "client" then return own() end
  return address(evt.field(peer))
end

local function server_of()
  if evt.field(side) == "server" then return own() end
  return other() or evt.field(peer)
end

local function latency(title, name, quantile)
  return {title, name = name, kind = "time", field = "request.latency", quantile = quantile, unknown = true}
end

require "toplist" {
  sort_as = "by",
  filter = "evt.type=request and (request.side=client or not request.peer_proc exists)",
  nothing = "no requests",
  init = function()
    side, process = chisel.request_field("request.side"), chisel.request_field("proc.name")
    peer_process, peer = chisel.request_field("request.peer_proc"), chisel.request_field("request.peer")
    sent, received = chisel.request_field("request.bytes_out"), chisel.request_field("request.bytes_in")
  end,
  values = {
    {"REQUESTS", name = "requests", count = true},
    {"FAILED", name = "failed", count = true, when = "request.failed"},
    latency("P50", "p50", 0.5),
    latency("P99", "p99", 0.99),
    {"LONGEST", name = "longest", kind = "time", field = "request.latency", max = true},
    {"SENT", name = "sent", kind = "bytes", of = function() return evt.field(evt.field(side) == "client" and sent or received) end},
    {"RECEIVED", name = "received", kind = "bytes", of = function() return evt.field(evt.field(side) == "client" and received or sent) end},
  },
  keys = {
    {"CLIENT", name = "client", of = client_of},
    {"SERVER", name = "server", of = server_of},
    {"PROTO", "request.proto", name = "proto"},
  },
}
