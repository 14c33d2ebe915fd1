-- SPDX-License-Identifier: Apache-2.0
description = "Processes with the most failed system calls, and what those were about. Calls that would only have to wait (EAGAIN) and those that a signal interrupted count as well."
short_description = "Top processes by number of failed system calls"
category = "Errors"

require "toplist" {
  filter = "evt.failed=true",
  keys = {{"PID", "proc.pid"}, {"PROCESS", "proc.aname[0]", name = "proc.name"}},
  values = {
    {"ERRORS", name = "errors", count = true},
    {"FILE", name = "file", field = "evt.count.error.file"},
    {"NET", name = "net", field = "evt.count.error.net"},
    {"MEMORY", name = "memory", field = "evt.count.error.memory"},
    {"OTHER", name = "other", field = "evt.count.error.other"},
  },
}
