-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "sports",
  name = "Server Ports",
  description = "What servers receive and send, port by port.",
  tips = {"Drill down into a port to see its connections."},
  tags = {"wsysdig"},
  view_type = "table",
  filter = "(fd.type=ipv4 or fd.type=ipv6) and fd.name!=''",
  applies_to = {"", "container.id", "proc.pid", "thread.nametid", "thread.tid", "proc.name",
    "evt.res"},
  drilldown_target = "connections",
  use_defaults = true,
  columns = {
    {name = "NA", field = "fd.sport", is_key = true},
    {name = "SPORT", field = "fd.sport", description = "Port of the server.", colsize = 8},
    {name = "BPS IN", field = "evt.buflen.net.in", description = "Bytes per second received.",
      aggregation = "TIME_AVG", colsize = 12, is_sorting = true},
    {name = "BPS OUT", field = "evt.buflen.net.out", description = "Bytes per second sent.",
      aggregation = "TIME_AVG", colsize = 12},
    {name = "IO CALLS", field = "evt.count.exit", json_field = "evt.count",
      description = "Number of calls.", aggregation = "SUM", colsize = 12},
  },
}
