-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "locks",
  name = "Locks",
  description = "Locks that threads wait for, and the thread that let them continue last.",
  tips = {"Drill down into a lock to see the threads that wait for it."},
  tags = {"Default"},
  view_type = "table",
  filter = "evt.type=slice and thread.slice.kind=lock",
  applies_to = {"", "container.id", "proc.pid", "proc.name", "thread.tid"},
  is_root = true,
  drilldown_target = "waiters",
  columns = {
    {name = "NA", field = "thread.slice.object", is_key = true},
    {name = "TIME", field = "thread.slice.ns", description = "Time of all waits.", aggregation = "SUM", colsize = 9,
     is_sorting = true},
    {name = "COUNT", field = "evt.count", description = "Waits.", aggregation = "SUM", colsize = 8},
    {name = "MAX", field = "thread.slice.ns", description = "The longest one.", aggregation = "MAX", colsize = 9},
    {name = "PROC", field = "proc.name", description = "Process that waits; of several, the first.", colsize = 16},
    {name = "HELD BY", field = "thread.slice.waker.comm", description = "Thread that ended the last wait.",
     aggregation = "MAX", colsize = 16},
    {name = "LOCK", field = "thread.slice.object", description = "Address of the lock.", colsize = 0},
  },
}
