-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "events",
  name = "Events",
  description = "Each call when it returns, and other events but task switches.",
  tips = {"Drill down from another view to see the events of one of its rows."},
  tags = {"Default"},
  view_type = "list",
  filter = "evt.num > 0 and evt.type!=switch and (evt.dir=< or evt.type in (exit, exit_group) or " ..
    "not syscall.type exists)",
  applies_to = {"", "container.id", "proc.pid", "proc.name", "thread.tid", "fd.name", "evt.type", "evt.res", "user.name",
    "fd.sport", "fd.directory"},
  use_defaults = true,
  columns = {
    {name = "TIME", field = "evt.time", description = "When it happened.", colsize = 18},
    {name = "CPU", field = "evt.cpu", description = "CPU.", colsize = 4},
    {name = "PROC", field = "proc.name", description = "Process.", colsize = 16},
    {name = "TID", field = "thread.tid", description = "Thread ID.", colsize = 8},
    {name = "EVENT", field = "evt.type", description = "System call or other event.", colsize = 16},
    {name = "LATENCY", field = "evt.latency", description = "How long the call took.", colsize = 9},
    {name = "ARGUMENTS", field = "evt.args", description = "Arguments and result.", colsize = 0},
  },
}
