-- SPDX-License-Identifier: Apache-2.0
description = "Shows the files with the most bytes read and written. Sockets and pipes do not count; terminals and other devices do."
short_description = "Top files by bytes read and written"
category = "I/O"

require "toplist" {
  filter = "fd.type=file and evt.io.bytes>0",
  keys = {{"FILE", "fd.name"}},
  values = require "iovalues"("READ", "WRITTEN"),
}
