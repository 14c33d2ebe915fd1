-- SPDX-License-Identifier: Apache-2.0
description = "Prints what processes write to standard error, as text. A line with the process and the file comes before the text of each process. A filter selects processes."
short_description = "Print the standard error of processes"
category = "I/O"

require "payload" {briefly = true, filter = "fd.num=2 and evt.is_io_write=true"}
