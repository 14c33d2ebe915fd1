-- SPDX-License-Identifier: Apache-2.0
description = "Shows the processes with the most failed syscalls, and how many of these were about files, the network, memory and other things. Calls that would block (EAGAIN) and those that a signal interrupted are included."
short_description = "Top processes by number of failed syscalls"
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
