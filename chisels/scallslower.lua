-- SPDX-License-Identifier: Apache-2.0
description = "Shows slow syscalls of any kind, with their arguments. Calls that wait for something, such as poll and nanosleep, are included; the filter 'evt.is_wait=false' leaves them out. Failures are red; calls that took at least ten times the threshold are yellow."
short_description = "Trace slow syscalls"
category = "Performance"

require "slowcalls"("syscall.type exists", "ARGUMENTS", "evt.args")
