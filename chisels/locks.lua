-- SPDX-License-Identifier: Apache-2.0
description = "Shows locks that threads waited for: the address of the futex, the thread that waited, and the thread that woke it. Of a mutex that is the thread which held it; of a condition variable the one that signalled it, so a pool of idle workers is in this list, too. No waker: the wait went on when the capture ended. OWNER ?: the thread that held the mutex of glibc when the wait began, by the memory of the program: a guess, for waits that no thread ended. Locks without waiting make no syscall and are not in the list. Needs no samples; a capture file needs switches and wake-ups (record with --slices)."
short_description = "Which locks threads waited for, and who held them"
category = "Performance"

require "toplist" {
  filter = "evt.type=slice and thread.slice.lock exists",
  nothing = "no waits for locks (a capture file needs switches and wake-ups: record with --slices)",
  values = require "slicevalues"("WAITS"),
  keys = {
    {"LOCK", "thread.slice.lock", name = "lock", show = function(address) return ("0x%x"):format(address) end},
    {"PROCESS", "proc.name"},
    {"PID", "proc.pid"},
    {"WAITER", "thread.name", name = "waiter"},
    {"WOKEN BY", "thread.slice.waker.comm", name = "waker"},
    {"OWNER ?", "thread.slice.owner.comm", name = "owner"},
  },
}
