-- SPDX-License-Identifier: Apache-2.0
description = "What processes write to their standard error output, as text. A head says whose it is where that changes; a filter chooses processes."
short_description = "Print the standard error output of processes"
category = "I/O"

require "payload" {briefly = true, filter = "fd.num=2 and evt.is_io_write=true"}
