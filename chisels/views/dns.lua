-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "dns",
  name = "DNS",
  description = "Names that processes look up: how often, how long it took, how many failed.",
  tips = {"Drill down into a name to see who looked it up."},
  tags = {"Default"},
  view_type = "table",
  filter = "evt.type=request and request.proto=dns and request.side=client and request.operation exists",
  applies_to = {"", "container.id", "proc.pid", "proc.name", "thread.tid"},
  is_root = true,
  drilldown_target = "requests_list",
  use_defaults = true,
  columns = {
    {name = "NA", field = "request.operation", is_key = true},
    {name = "COUNT", field = "evt.count", description = "Questions.", aggregation = "SUM", colsize = 8, is_sorting = true},
    {name = "FAILED", field = "request.failed", description = "Questions that failed.", aggregation = "SUM", colsize = 8},
    {name = "P50", field = "request.latency", description = "Half of them took no longer.", aggregation = "P50", colsize = 9},
    {name = "MAX", field = "request.latency", description = "The longest one.", aggregation = "MAX", colsize = 9},
    {name = "PROC", field = "proc.name", description = "Process that asks; of several, the first.", colsize = 16},
    {name = "QUESTION", field = "request.operation", description = "Type and name.", colsize = 0},
  },
}
