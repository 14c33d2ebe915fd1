-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "cpus",
  name = "CPUs",
  description = "Events of each CPU.",
  tips = {"Drill down into a CPU to see the processes that run there."},
  tags = {"Default"},
  view_type = "table",
  filter = "evt.num > 0",
  applies_to = {"", "container.id"}, -- not processes: by its name it would be what they drill down into
  is_root = true,
  drilldown_target = "procs",
  columns = {
    {name = "NA", field = "evt.cpu", is_key = true},
    {name = "EVENTS", field = "evt.count", description = "Events per second.", aggregation = "TIME_AVG", colsize = 12},
    {name = "ERRORS", field = "evt.failed", description = "Failed calls per second.", aggregation = "TIME_AVG", colsize = 12},
    {name = "CPU", field = "evt.cpu", description = "Number of the CPU.", colsize = 0, is_sorting = true},
  },
}
