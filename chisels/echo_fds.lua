-- SPDX-License-Identifier: Apache-2.0
description = "Prints the data that processes read and write, below a line with the process and the file. A filter selects processes and files; -x, -X, -A and -b select the format of the data. Reads are red and writes are blue."
short_description = "Print the data that processes read and write"
category = "I/O"

require "payload" {filter = "fd.num exists", formatted = true}
