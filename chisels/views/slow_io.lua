-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "slow_io",
  name = "Slow File I/O",
  description = "Reads and writes of files that took more than 1 ms.",
  tags = {"Default", "wsysdig"},
  view_type = "table",
  filter = "evt.is_io=true and fd.type=file and (not fd.name contains '/dev/') and evt.latency>1000000",
  applies_to = {"", "container.id", "proc.pid", "thread.nametid", "thread.tid", "proc.name"},
  use_defaults = true,
  columns = {
    {name = "NA", field = "evt.rawtime", is_key = true},
    {name = "TIME", field = "evt.time", description = "When the call returned.", colsize = 12},
    {name = "LATENCY", field = "evt.latency", description = "Time in the call.", colsize = 8,
      is_sorting = true},
    {name = "FILENAME", field = "fd.name", description = "Path.", colsize = 32},
    {name = "Container", field = "container.name", tags = {"containers"},
      description = "Container.", colsize = 20},
    {name = "PID", field = "proc.pid", description = "Process ID.", colsize = 12},
    {name = "Command", field = "proc.command", description = "Command line.", aggregation = "MAX",
      colsize = 0},
  },
}
