-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "requests_list",
  name = "Requests List",
  description = "Requests as they end, at both ends.",
  tips = {"A request between two processes of this machine has two lines: one of its client, one of its server."},
  tags = {"Default"},
  view_type = "list",
  filter = "evt.type=request",
  applies_to = {"", "container.id", "proc.pid", "proc.name", "thread.tid", "fd.sport", "request.operation", "request.peer",
    "request.peer_proc", "request.query"},
  use_defaults = true,
  columns = {
    {name = "TIME", field = "evt.time", description = "When it ended.", colsize = 18},
    {name = "LATENCY", field = "request.latency", description = "From its first byte to the last of the response.",
     colsize = 9},
    {name = "SIDE", field = "request.side", description = "What the process is: client or server.", colsize = 7},
    {name = "PROC", field = "proc.name", description = "Process.", colsize = 16},
    {name = "PEER", field = "request.peer", description = "The other end.", colsize = 21},
    {name = "STATUS", field = "request.status", description = "Status, as the protocol counts it.", colsize = 7},
    {name = "ERROR", field = "request.error", description = "Why it failed.", colsize = 12},
    {name = "REQUEST", field = "request.operation", description = "Method and route, or statement.", colsize = 0},
  },
}
