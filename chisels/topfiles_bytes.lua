-- SPDX-License-Identifier: Apache-2.0
description = "Files that most bytes are read from and written to. Sockets, pipes and terminals do not count."
short_description = "Top files by bytes read and written"
category = "I/O"

local reads, writes

local spec = {
  filter = "fd.type=file and evt.is_io=true and evt.dir=< and evt.rawres>0",
  keys = {{"FILE", "fd.name"}},
  values = {
    {"BYTES", name = "bytes", kind = "bytes", field = "evt.rawres"},
    {"READ", name = "read", kind = "bytes", of = function() return reads and evt.field(reads) end},
    {"WRITTEN", name = "written", kind = "bytes", of = function() return evt.field(writes) end},
  },
}

function spec.init()
  reads, writes = chisel.request_field("evt.buflen.file.in"), chisel.request_field("evt.buflen.file.out")
end

require "toplist"(spec)
