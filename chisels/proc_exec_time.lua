-- SPDX-License-Identifier: Apache-2.0
description = "Processes that end: how long they lived, how they ended, and what they were. Yellow lines lived for 3 seconds or longer, red ones for 10."
short_description = "Show how long processes ran and how they ended"
category = "Performance"

require "eventlog" {
  filter = "evt.type=procexit and thread.ismain=true",
  columns = {
    {"TIME", "evt.rawtime", name = "time", kind = "clock", width = 12},
    {"DURATION", "proc.duration", kind = "time", width = 8},
    {"PID", "proc.pid", kind = "number", width = 7},
    {"USER", "user.name", width = 10},
    {"STATUS", "evt.arg.status", width = 11},
    {"COMMAND", "proc.exeline"},
  },
  color = function(row)
    local ns = row["proc.duration"]
    return ns and (ns >= 10e9 and "red" or ns >= 3e9 and "yellow") or nil
  end,
}
