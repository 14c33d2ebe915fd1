-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "waits",
  name = "Waits",
  description = "What threads wait for: files, connections, locks, pipes, and how long.",
  tips = {"saker why tells which of these waits made a request slow."},
  tags = {"Default"},
  view_type = "table",
  filter = "evt.type=slice and thread.slice.state=blocked and thread.slice.object exists",
  applies_to = {"", "container.id", "proc.pid", "proc.name", "thread.tid"},
  is_root = true,
  use_defaults = true,
  columns = {
    {name = "NA", field = "thread.slice.object", is_key = true},
    {name = "TIME", field = "thread.slice.ns", description = "Time of all waits.", aggregation = "SUM", colsize = 9,
     is_sorting = true},
    {name = "COUNT", field = "evt.count", description = "Waits.", aggregation = "SUM", colsize = 8},
    {name = "P99", field = "thread.slice.ns", description = "99 % of them were no longer.", aggregation = "P99", colsize = 9},
    {name = "MAX", field = "thread.slice.ns", description = "The longest one.", aggregation = "MAX", colsize = 9},
    {name = "KIND", field = "thread.slice.kind", description = "Kind of the wait.", colsize = 10},
    {name = "PROC", field = "proc.name", description = "Process that waits; of several, the first.", colsize = 16},
    {name = "FOR", field = "thread.slice.object", description = "What it waits for.", colsize = 0},
  },
}
