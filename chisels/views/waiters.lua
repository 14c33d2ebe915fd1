-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "waiters",
  name = "Waiting Threads",
  description = "Time that each thread waits, other than for a CPU.",
  tips = {"Sort by MAX to find the longest wait."},
  tags = {"Default"},
  view_type = "table",
  filter = "evt.type=slice and thread.slice.state=blocked",
  applies_to = {"", "container.id", "proc.pid", "proc.name", "thread.slice.object"},
  drilldown_target = "waits",
  propagate_filter = false, -- other events are not slices
  use_defaults = true,
  columns = {
    {name = "NA", field = "thread.tid", is_key = true},
    {name = "TIME", field = "thread.slice.ns", description = "Time of all waits.", aggregation = "SUM", colsize = 9,
     is_sorting = true},
    {name = "COUNT", field = "evt.count", description = "Waits.", aggregation = "SUM", colsize = 8},
    {name = "MAX", field = "thread.slice.ns", description = "The longest one.", aggregation = "MAX", colsize = 9},
    {name = "TID", field = "thread.tid", description = "Thread ID.", colsize = 8},
    {name = "THREAD", field = "thread.name", description = "Name of the thread.", colsize = 16},
    {name = "PROC", field = "proc.name", description = "Process.", colsize = 0},
  },
}
