-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "syscall_procs",
  name = "Syscall Callers",
  description = "Which processes make system calls, how many, and how long they are in them.",
  tips = {"Drill down into a call of the view System Calls to see who makes that call."},
  tags = {"Default"},
  view_type = "table",
  filter = "syscall.type exists",
  applies_to = {"evt.type"},
  use_defaults = true,
  columns = {
    {name = "NA", field = "proc.pid", is_key = true},
    {name = "CALLS/S", field = "evt.count.exit", json_field = "evt.count",
      description = "Calls per second, counted when they return.", aggregation = "TIME_AVG",
      colsize = 10, is_sorting = true},
    {name = "TIME", field = "evt.latency", description = "Time in calls.", aggregation = "SUM",
      colsize = 10},
    {name = "Container", field = "container.name", tags = {"containers"},
      description = "Container.", colsize = 20},
    {name = "Command", field = "proc.command", description = "Command line.", aggregation = "MAX",
      colsize = 0},
  },
}
