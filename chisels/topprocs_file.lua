-- SPDX-License-Identifier: Apache-2.0
description = "Shows the processes that read and write the most bytes of files, from the page cache as well as from disks. Sockets and pipes do not count. iotop shows which processes had to wait."
short_description = "Top processes by bytes of files read and written"
category = "I/O"

require "toplist" {
  filter = "fd.type=file and evt.io.bytes>0",
  keys = {{"PID", "proc.pid"}, {"PROCESS", "proc.aname[0]", name = "proc.name"}},
  values = require "iovalues"("READ", "WRITTEN"),
}
