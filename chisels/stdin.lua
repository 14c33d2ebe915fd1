-- SPDX-License-Identifier: Apache-2.0
description = "What processes read from their standard input, as text. A head says whose it is where that changes; a filter chooses processes."
short_description = "Print the standard input of processes"
category = "I/O"

require "payload" {briefly = true, filter = "fd.num=0 and evt.is_io_read=true"}
