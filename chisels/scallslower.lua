-- SPDX-License-Identifier: Apache-2.0
description = "System calls of any kind that took long, with their arguments. Calls that wait for something, such as poll and nanosleep, are among them: 'evt.is_wait=false' as a filter leaves them out. Red lines are failures, yellow ones took ten times as long as asked for."
short_description = "Trace slow system calls"
category = "Performance"

require "slowcalls"("syscall.type exists", "ARGUMENTS", "evt.args")
