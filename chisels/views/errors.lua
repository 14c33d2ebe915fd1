-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "errors",
  name = "Errors",
  description = "Failed system calls by error code.",
  tips = {"Drill down into an error to see the processes that get it."},
  tags = {"Default", "wsysdig"},
  view_type = "table",
  filter = "evt.res != SUCCESS",
  applies_to = {"", "container.id", "proc.pid", "thread.nametid", "proc.name", "thread.tid", "fd.sport",
    "fd.sproto", "fd.directory", "fd.containerdirectory"},
  drilldown_target = "procs_errors",
  use_defaults = true,
  columns = {
    {name = "NA", field = "evt.res", is_key = true},
    {name = "COUNT", field = "evt.count", description = "Number of failed calls.", colsize = 12, aggregation = "SUM",
      is_sorting = true},
    {name = "ERROR", field = "evt.res", description = "Error code, such as ENOENT.", colsize = 0},
  },
}
