-- SPDX-License-Identifier: Apache-2.0
description = "Shows the bytes read from files and written to them in each second, whether through the page cache or not."
short_description = "Bytes of file I/O, second by second"
category = "I/O"

require "bytesums" "fd.type=file"
