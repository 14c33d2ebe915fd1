-- SPDX-License-Identifier: Apache-2.0
description = "Processes with the most failed system calls. Calls that would only have to wait (EAGAIN) and those that a signal interrupted count as well."
short_description = "Top processes by number of failed system calls"
category = "Errors"

require "toplist" {
  filter = "evt.failed=true",
  keys = {{"PID", "proc.pid"}, {"PROCESS", "proc.name"}},
  values = {{"ERRORS", name = "errors", count = true}},
}
