-- SPDX-License-Identifier: Apache-2.0
view_info = {
  id = "spy_syslog",
  name = "Spy Syslog",
  description = "Messages to syslog.",
  tags = {"Default"},
  view_type = "list",
  filter = "fd.name contains /dev/log and evt.is_io_write=true and evt.dir=< and evt.failed=false",
  applies_to = {"", "container.id", "proc.pid", "thread.nametid", "proc.name", "thread.tid",
    "fd.sport", "fd.sproto"},
  columns = {
    {name = "PID", field = "proc.pid", description = "Process ID.", colsize = 8},
    {name = "PROC", field = "proc.name", description = "Name of the process.", colsize = 8},
    {name = "FAC", field = "syslog.facility.str", description = "Facility.", colsize = 8},
    {name = "SEV", field = "syslog.severity.str", description = "Severity.", colsize = 8},
    {name = "Container", field = "container.name", tags = {"containers"},
      description = "Container.", colsize = 20},
    {name = "MESSAGE", field = "syslog.message", description = "Message.", colsize = 0},
  },
}
