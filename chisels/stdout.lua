-- SPDX-License-Identifier: Apache-2.0
description = "Prints what processes write to standard output, as text. A line with the process and the file comes before the text of each process. A filter selects processes."
short_description = "Print the standard output of processes"
category = "I/O"

require "payload" {briefly = true, filter = "fd.num=1 and evt.is_io_write=true"}
