-- SPDX-License-Identifier: Apache-2.0
description = "Bytes read and written, second by second, of files, sockets, pipes and all else."
short_description = "Bytes of I/O, second by second"
category = "I/O"

require "bytesums" ""
