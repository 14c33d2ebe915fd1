-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "file_opens",
  name = "File Opens List",
  description = "Each open of a file, and its result.",
  tags = {"Default"},
  view_type = "list",
  filter = "evt.type in (open, creat, openat, openat2, open_by_handle_at) and evt.dir=<",
  json_filter = "evt.type=open and evt.dir=<",
  applies_to = {"", "container.id", "proc.pid", "thread.nametid", "proc.name", "thread.tid",
    "fd.sport", "fd.sproto", "fd.name", "fd.containername", "fd.directory", "fd.containerdirectory",
    "evt.res"},
  columns = {
    {name = "TIME", field = "evt.time", description = "When the call returned.", colsize = 19},
    {name = "RES", field = "evt.res", description = "SUCCESS or an error code.", colsize = 8},
    {name = "FILE", field = "fd.name", description = "Path.", colsize = 40},
    {name = "Container", field = "container.name", tags = {"containers"},
      description = "Container.", colsize = 20},
    {name = "Command", field = "proc.command", description = "Command line.", aggregation = "MAX",
      colsize = 0},
  },
  actions = {
    {hotkey = "L", command = "less -- %fd.name", description = "Read the file",
      wait_finish = false},
  },
}
