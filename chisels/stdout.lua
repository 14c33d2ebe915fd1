-- SPDX-License-Identifier: Apache-2.0
description = "What processes write to their standard output, as text. A head says whose it is where that changes; a filter chooses processes."
short_description = "Print the standard output of processes"
category = "I/O"

require "payload" {briefly = true, filter = "fd.num=1 and evt.is_io_write=true"}
