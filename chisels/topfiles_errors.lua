-- SPDX-License-Identifier: Apache-2.0
description = "Shows the open files with the most failed syscalls. An open that fails has no open file; syscall_errors counts those."
short_description = "Top files by number of failed syscalls"
category = "Errors"

require "toplist" {
  filter = "fd.type=file and evt.failed=true",
  keys = {{"FILE", "fd.name"}},
  values = {{"ERRORS", name = "errors", count = true}},
}
