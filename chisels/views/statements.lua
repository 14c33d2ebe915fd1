-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "statements",
  name = "Statements",
  description = "Statements that databases execute, without their literals: how often, how long, and who sends them.",
  tips = {"Drill down into a statement to see its requests."},
  tags = {"Default"},
  view_type = "table",
  filter = "evt.type=request and request.proto in (pgsql, mysql) and request.side=server",
  applies_to = {"", "container.id", "proc.pid", "proc.name", "thread.tid", "fd.sport"},
  is_root = true,
  drilldown_target = "requests_list",
  columns = {
    {name = "NA", field = "request.query", is_key = true},
    {name = "TIME", field = "request.latency", description = "Time of all of them.", aggregation = "SUM", colsize = 9,
     is_sorting = true},
    {name = "COUNT", field = "evt.count", description = "How many.", aggregation = "SUM", colsize = 8},
    {name = "FAILED", field = "request.failed", description = "How many failed.", aggregation = "SUM", colsize = 8},
    {name = "P50", field = "request.latency", description = "Half of them took no longer.", aggregation = "P50", colsize = 9},
    {name = "MAX", field = "request.latency", description = "The longest one.", aggregation = "MAX", colsize = 9},
    {name = "CLIENT", field = "request.client", description = "Process that sends it; of several, the first.", colsize = 16},
    {name = "STATEMENT", field = "request.query", description = "Statement with ? for each literal.", colsize = 0},
  },
}
