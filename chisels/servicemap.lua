-- SPDX-License-Identifier: Apache-2.0
description = "Counts requests by client, server and protocol: how many, how many failed, latencies that half and 99 % of them did not exceed, and the bytes that the client sent and received. Clients and servers are processes of this machine, else addresses. A request between two processes of this machine counts once, as the client saw it. With format=svg: a picture of the whole capture, with an arrow for each pair, as wide as it has requests, in the colour of the share that failed; redirect the output to a file. With format=dot: the same as a graph for Graphviz."
short_description = "Which process calls which service"
category = "Application"

local report = require "report"

local side, sent, received

-- Returns one field of a request as the client's process has it, and another as the server's has it.
local function by_side(of_client, of_server) return evt.field(evt.field(side) == "client" and of_client or of_server) end

-- Returns the lines of an edge: how many requests of which protocol, how many of them failed, latencies, bytes.
local function label_of(row)
  local label = {("%d %s"):format(row.requests, report.line(row.proto or "-"))}
  if row.failed > 0 then
    label[#label + 1] = ("%d failed (%.1f %%)"):format(row.failed, 100 * row.failed / row.requests)
  end
  if row.p50 then label[#label + 1] = ("p50 %s, p99 %s"):format(report.time(row.p50), report.time(row.p99)) end
  label[#label + 1] = ("%s sent, %s received"):format(report.bytes(row.sent), report.bytes(row.received))
  return label
end

local arg

local EDGES_MAX = 1000 -- of a picture

local function edges_of(rows, most)
  local edges = {}
  for _, row in ipairs(rows) do
    if row.server and #edges < most then
      edges[#edges + 1] = {from = row.client or "-", to = row.server, label = label_of(row), weight = row.requests,
                           failed = row.failed}
    end
  end
  return edges
end

local function draw_svg(edges, caption)
  local n = 0
  for _, edge in ipairs(edges) do n = n + edge.weight end
  local subtitle = ("%d requests%s"):format(n, caption and "; " .. caption or "")
  require "graphsvg"(edges, {title = "Who calls whom", subtitle = subtitle})
end

local function draw(rows, n_all)
  if arg.format == "table" then return false end
  local edges = edges_of(rows, arg.format == "svg" and EDGES_MAX or math.huge)
  local caption = n_all > #edges and ("%d more with fewer requests"):format(n_all - #edges) or nil
  if arg.format == "dot" then require "dotgraph"(edges, caption) else draw_svg(edges, caption) end
  return true
end

require "toplist" {
  sort_as = "by",
  last_args = {{name = "format", default = "table", check = report.one_of {"table", "svg", "dot"},
                description = "table; svg: a picture; dot: a graph for Graphviz (table)"}},
  draw = draw,
  filter = "evt.type=request and (request.side=client or not request.peer_proc exists)",
  nothing = "no requests",
  init = function(arguments)
    arg = arguments
    if arg.format ~= "table" then arg.interval = 0 end
    side = chisel.request_field("request.side")
    sent, received = chisel.request_field("request.bytes_out"), chisel.request_field("request.bytes_in")
  end,
  values = require "requestvalues"({50, 99}, {
    {"SENT", name = "sent", kind = "bytes", of = function() return by_side(sent, received) end},
    {"RECEIVED", name = "received", kind = "bytes", of = function() return by_side(received, sent) end},
  }),
  keys = {
    {"CLIENT", "request.client", name = "client"},
    {"SERVER", "request.server", name = "server"},
    {"PROTO", "request.proto", name = "proto"},
  },
}
