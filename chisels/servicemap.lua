-- SPDX-License-Identifier: Apache-2.0
description = "Counts requests by client, server and protocol: how many, how many failed, latencies that half and 99 % of them did not exceed, and the bytes that the client sent and received. Clients and servers are processes of this machine, else addresses. A request between two processes of this machine counts once, as the client saw it."
short_description = "Which process calls which service"
category = "Application"

local side, process, peer_process, peer, sent, received

-- Returns the address without the port, of which a client has a new one for each connection.
local function address(text) return text and (text:match("^(.*):%d+$") or text) end

-- Returns one field of a request as the client's process has it, and another as the server's has it.
local function by_side(of_client, of_server) return evt.field(evt.field(side) == "client" and of_client or of_server) end

local function client_of()
  if evt.field(side) == "client" then return evt.field(process) end
  return address(evt.field(peer))
end

local function server_of()
  if evt.field(side) == "server" then return evt.field(process) end
  return evt.field(peer_process) or evt.field(peer)
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
  values = require "requestvalues"({50, 99}, {
    {"SENT", name = "sent", kind = "bytes", of = function() return by_side(sent, received) end},
    {"RECEIVED", name = "received", kind = "bytes", of = function() return by_side(received, sent) end},
  }),
  keys = {
    {"CLIENT", name = "client", of = client_of},
    {"SERVER", name = "server", of = server_of},
    {"PROTO", "request.proto", name = "proto"},
  },
}
