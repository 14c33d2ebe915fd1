-- SPDX-License-Identifier: Apache-2.0
description = "Shows the containers that read and write the most bytes of files. Processes outside of containers do not count."
short_description = "Top containers by bytes of files read and written"
category = "I/O"

require "toplist" {
  no_container = true,
  filter = "fd.type=file and evt.io.bytes>0 and container.id!=host",
  keys = {require "report".container_key},
  values = require "iovalues"("READ", "WRITTEN"),
}
