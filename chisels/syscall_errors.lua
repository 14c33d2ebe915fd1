-- SPDX-License-Identifier: Apache-2.0
description = "Failed system calls, counted by call, error and process. Another field can take the place of the process: by=fd.name counts by file or connection, by=proc.pid by process number. Calls that would only have to wait (EAGAIN) and those that a signal interrupted count as well."
short_description = "Top system call errors by call, error and process"
category = "Errors"

require "toplist" {
  filter = "evt.failed=true",
  keys = {
    {"CALL", "evt.type"},
    {"ERROR", "evt.res"},
    {function(arg) return arg.by == "proc.name" and "PROCESS" or arg.by:upper() end,
     function(arg) return arg.by end},
  },
  values = {{"ERRORS", name = "errors", count = true}},
  top = 20,
  args = {{name = "by", default = "proc.name", check = require "report".field, description = "the third column: a field (proc.name)"}},
}
