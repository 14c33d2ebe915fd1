-- SPDX-License-Identifier: Apache-2.0
description = "Prints the messages that processes send to the system log. Errors are red and warnings yellow. With -r and a file name as an argument, it also saves what the same threads did around each message to a capture file."
short_description = "Print messages to the system log"
category = "Logs"

local bad = {emerg = "red", alert = "red", crit = "red", err = "red", warn = "yellow"}

require "eventlog" {
  saves = true,
  snaplen = 2000,
  filter = "evt.is_syslog=true and evt.dir=< and evt.failed=false",
  columns = {
    {"TIME", "evt.rawtime", name = "time", kind = "clock", width = 12},
    {"FACILITY", "syslog.facility.str", width = 8},
    {"SEVERITY", "syslog.severity.str", width = 8},
    {"PID", "proc.pid", kind = "number", width = 7},
    {"PROCESS", "proc.name", width = 15},
    {"MESSAGE", "syslog.message"},
  },
  color = function(row) return bad[row["syslog.severity.str"]] end,
}
