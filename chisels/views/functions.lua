-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "functions",
  name = "Functions",
  description = "Functions that run on the CPU, of captures with samples (saker profile -w, --sample).",
  tips = {"A sample stands for the time between two of them."},
  tags = {"Default"},
  view_type = "table",
  filter = "evt.type=sample and sample.reason=cpu",
  applies_to = {"", "container.id", "proc.pid", "proc.name", "thread.tid"},
  is_root = true,
  columns = {
    {name = "NA", field = "stack.function", is_key = true},
    {name = "SAMPLES", field = "evt.count", description = "Samples.", aggregation = "SUM", colsize = 8, is_sorting = true},
    {name = "PROC", field = "proc.name", description = "Process; of several, the first.", colsize = 16},
    {name = "FUNCTION", field = "stack.function", description = "Innermost function.", colsize = 0},
  },
}
