-- SPDX-License-Identifier: Apache-2.0
description = "Shows which threads waited for a CPU, and behind whom: the thread that ran longest on that CPU meanwhile. Behind idle: the CPU was free and had to wake up. A thread that is preempted inside a syscall waits for a CPU, too. Needs no samples; a capture file needs switches and wake-ups (record with --slices)."
short_description = "Who waited for a CPU, and behind whom"
category = "CPU Usage"

require "toplist" {
  filter = "evt.type=slice and thread.slice.kind=runnable",
  nothing = "no waits for a CPU (a capture file needs switches and wake-ups: record with --slices)",
  values = require "slicevalues"("TIMES"),
  keys = {
    {"PROCESS", "proc.name"},
    {"PID", "proc.pid"},
    {"THREAD", "thread.name"},
    {"BEHIND", "thread.slice.behind.comm", name = "behind"},
  },
}
