-- SPDX-License-Identifier: Apache-2.0
description = "The data that processes read and write, with a head that says who and where. A filter chooses what; -x, -X, -A and -b choose how data looks. Reads are red and writes are blue."
short_description = "Print the data that processes read and write"
category = "I/O"

require "payload" {filter = "fd.num exists", as_asked = true}
