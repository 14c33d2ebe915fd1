-- SPDX-License-Identifier: Apache-2.0
description = "Shows the bytes read and written in each second, of files, sockets, pipes and everything else."
short_description = "Bytes of I/O, second by second"
category = "I/O"

require "bytesums" ""
