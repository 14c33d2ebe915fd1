-- SPDX-License-Identifier: Apache-2.0
-- Names of the two ends of a request: require "requestends"(), in on_init, returns {client = f, server = f}, functions
-- that return the name of an end of the current request. That is a process of this machine, else an address.

-- Returns the address without the port, of which a client has a new one for each connection.
local function address(text) return text and (text:match("^(.*):%d+$") or text) end

return function()
  local side, process = chisel.request_field("request.side"), chisel.request_field("proc.name")
  local peer_process, peer = chisel.request_field("request.peer_proc"), chisel.request_field("request.peer")
  local ends = {}

  function ends.client()
    if evt.field(side) == "client" then return evt.field(process) end
    return evt.field(peer_process) or address(evt.field(peer))
  end

  function ends.server()
    if evt.field(side) == "server" then return evt.field(process) end
    return evt.field(peer_process) or evt.field(peer)
  end

  return ends
end
