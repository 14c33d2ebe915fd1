-- SPDX-License-Identifier: Apache-2.0
description = "Shows slow reads, writes and clones of files, and slow calls that reserve space (fallocate) or wait until data is on disk (fsync, fdatasync, sync_file_range, msync). RESULT is the number of bytes, or the error. Failures are red; calls that took at least ten times the threshold are yellow."
short_description = "Trace slow file I/O"
category = "Performance"

require "slowcalls"(
  require "report".real_files
    .. " and (evt.is_io=true or evt.io.bytes exists or evt.type in (fsync, fdatasync, sync_file_range, msync))",
  "FILE", "fd.name", true)
