-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "port_bindings",
  name = "Port Bindings",
  description = "Which processes bind a socket to a port, and which close it again.",
  tags = {"Default"},
  view_type = "list",
  filter = "evt.type in (bind, close) and evt.dir=< and evt.failed=false and fd.name != '' and " ..
    "fd.type in (ipv4, ipv6) and not fd.name contains '->'",
  json_filter = "(evt.type=bind and evt.dir=< and (fd.type=ipv4 or fd.type=ipv6)) or " ..
    "(evt.type=close and evt.dir=> and fd.typechar=2 and fd.type=ipv4)",
  applies_to = {""},
  use_defaults = true,
  columns = {
    {name = "TIME", field = "evt.time", description = "When.", colsize = 12},
    {name = "OPERATION", field = "evt.type", description = "bind or close.", colsize = 24},
    {name = "PORT", field = "fd.name", json_field = "fd.sport",
      description = "Address and port; 0: the kernel chooses one.", colsize = 24},
    {name = "Command", field = "proc.command", description = "Command line.", aggregation = "MAX",
      colsize = 0},
  },
}
