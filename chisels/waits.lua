-- SPDX-License-Identifier: Apache-2.0
description = "Shows what threads waited for: how long in all, how often, and the longest wait, by process, kind of wait, syscall, and the file, connection, pipe or lock. Waits for a CPU are in runqueue. A wait that goes on when the capture ends counts up to then. Needs no samples; a capture file needs switches and wake-ups (record with --slices)."
short_description = "What threads waited for"
category = "Performance"

require "toplist" {
  filter = "evt.type=slice and thread.slice.state=blocked",
  nothing = "no waits (a capture file needs switches and wake-ups: record with --slices)",
  values = require "slicevalues"("TIMES"),
  keys = {
    {"PROCESS", "proc.name"},
    {"PID", "proc.pid"},
    {"FOR", "thread.slice.kind", name = "kind"},
    {"IN", "thread.slice.call", name = "call"},
    {"ON", "thread.slice.object", name = "object"},
  },
}
