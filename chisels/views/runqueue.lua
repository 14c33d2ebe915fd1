-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "runqueue",
  name = "Run Queue",
  description = "Time that threads wait for a CPU.",
  tips = {"A process that waits long for a CPU is slowed by the others: see Processes CPU."},
  tags = {"Default"},
  view_type = "table",
  filter = "evt.type=slice and thread.slice.state=runnable",
  applies_to = {"", "container.id", "proc.pid", "proc.name"},
  is_root = true,
  drilldown_target = "syscalls",
  propagate_filter = false, -- other events are not slices
  use_defaults = true,
  columns = {
    {name = "NA", field = "thread.tid", is_key = true},
    {name = "TIME", field = "thread.slice.ns", description = "Time of all waits.", aggregation = "SUM", colsize = 9,
     is_sorting = true},
    {name = "COUNT", field = "evt.count", description = "Waits.", aggregation = "SUM", colsize = 8},
    {name = "P99", field = "thread.slice.ns", description = "99 % of them were no longer.", aggregation = "P99", colsize = 9},
    {name = "MAX", field = "thread.slice.ns", description = "The longest one.", aggregation = "MAX", colsize = 9},
    {name = "TID", field = "thread.tid", description = "Thread ID.", colsize = 8},
    {name = "THREAD", field = "thread.name", description = "Name of the thread.", colsize = 16},
    {name = "PROC", field = "proc.name", description = "Process.", colsize = 0},
  },
}
