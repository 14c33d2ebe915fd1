-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "incoming_connections",
  name = "New Connections",
  description = "Connections that servers accept.",
  tags = {"Default"},
  view_type = "list",
  filter = "evt.type in (accept, accept4) and evt.dir=< and evt.failed=false",
  applies_to = {"", "container.id", "proc.pid", "thread.nametid", "thread.tid", "proc.name",
    "fd.name", "fd.containername", "fd.sport", "fd.sproto", "fd.dport", "fd.port", "fd.lport",
    "fd.rport"},
  columns = {
    {name = "TIME", field = "evt.time", description = "When it was accepted.", colsize = 19},
    {name = "Connection", field = "fd.name", description = "Addresses and ports.", colsize = 40},
    {name = "Container", field = "container.name", tags = {"containers"},
      description = "Container.", colsize = 20},
    {name = "Command", field = "proc.command", description = "Command line.", aggregation = "MAX",
      colsize = 0},
  },
}
