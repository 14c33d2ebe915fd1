-- SPDX-License-Identifier: Apache-2.0
description = "Lists the IPv4 and IPv6 sockets of all processes at the beginning of the capture. With a filter on the command line, it lists those at the first event that matches: saker -r in.scap -c netstat evt.num=1000"
short_description = "List network connections"
category = "System State"

local report = require "report"
local snapshot = require "snapshot"

local function ends(file)
  local client = file.cip and {file.cip, file.cport}
  if file.is_server then return {file.sip, file.sport}, client end
  return client, {file.sip, file.sport}
end

-- A new socket is neither bound nor connected.
local function is_bound(file) return (file.sport or 0) > 0 or (file.cport or 0) > 0 end

local function address(pair)
  if not pair then return "*" end
  return report.endpoint(pair[1], pair[2])
end

local function state(file)
  if file.cip then return "ESTABLISHED" end
  return file.l4proto == "tcp" and "LISTEN" or nil
end

snapshot.chisel {
  nothing = "no connections",
  columns = {
    {"PROTO", name = "fd.l4proto", of = function(e) return e.file.l4proto end},
    {"LOCAL", name = "local", whole = true, of = function(e) return address(e.here) end},
    {"PEER", name = "peer", whole = true, of = function(e) return address(e.there) end},
    {"STATE", name = "state", of = function(e) return state(e.file) end},
    {"PID", name = "proc.pid", kind = "number", of = function(e) return e.thread.pid end},
    {"PROCESS", name = "proc.name", of = function(e) return e.thread.comm end},
  },
  entries = function(filter)
    local entries = snapshot.files(filter, is_bound)
    for _, e in ipairs(entries) do e.here, e.there = ends(e.file) end
    return entries
  end,
}
