-- SPDX-License-Identifier: Apache-2.0
description = "Reads, writes and clones of files that took long, and calls that reserve space (fallocate) or wait until data is on disk (fsync, fdatasync, sync_file_range, msync). The result is the number of bytes, or the error. Red lines are failures, yellow ones took ten times as long as asked for."
short_description = "Trace slow file I/O"
category = "Performance"

require "slowcalls"(
  require "report".real_files
    .. " and (evt.is_io=true or evt.io.bytes exists or evt.type in (fsync, fdatasync, sync_file_range, msync))",
  "FILE", "fd.name", true)
