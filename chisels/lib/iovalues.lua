-- SPDX-License-Identifier: Apache-2.0
-- The values of top lists of bytes: require "iovalues"(IN, OUT), with the titles of the columns for bytes
-- read and written. A copy from file to file is a read of the one and a write of the other.
return function(title_in, title_out)
  chisel.each_end()
  return {
    {"BYTES", name = "bytes", kind = "bytes", field = "evt.io.bytes"},
    {title_in, name = title_in:lower(), kind = "bytes", field = "evt.io.read_bytes"},
    {title_out, name = title_out:lower(), kind = "bytes", field = "evt.io.write_bytes"},
  }
end
