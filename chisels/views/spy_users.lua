-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "spy_users",
  name = "Spy Users",
  description = "Commands that run, and changes of the directory in shells.",
  tags = {"Default"},
  view_type = "list",
  filter = "((evt.type=execve and evt.dir=<) or (evt.type=chdir and evt.dir=< and proc.name contains sh and not proc.name contains sshd)) and evt.failed=false",
  applies_to = {"", "container.id", "proc.pid", "thread.nametid", "thread.tid", "proc.name"},
  use_defaults = true,
  columns = {
    {name = "TIME", field = "evt.time", description = "When.", colsize = 12},
    {name = "USER", field = "user.name", description = "User.", colsize = 12},
    {name = "SHELL", field = "proc.ppid", description = "Process ID of the parent.", colsize = 8},
    {name = "Container", field = "container.name", tags = {"containers"},
      description = "Container.", colsize = 20},
    {name = "Command", field = "proc.command", description = "Command line.", aggregation = "MAX",
      colsize = 0},
  },
}
