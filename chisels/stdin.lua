-- SPDX-License-Identifier: Apache-2.0
description = "Prints what processes read from standard input, as text. A line with the process and the file comes before the text of each process. A filter selects processes."
short_description = "Print the standard input of processes"
category = "I/O"

require "payload" {briefly = true, filter = "fd.num=0 and evt.is_io_read=true"}
