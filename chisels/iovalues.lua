-- SPDX-License-Identifier: Apache-2.0
-- The values that top lists of bytes count: require "iovalues"(IN, OUT), the titles of what was read
-- and what was written.
return function(title_in, title_out)
  return {
    {"BYTES", name = "bytes", kind = "bytes", field = "evt.rawres"},
    {title_in, name = title_in:lower(), kind = "bytes", field = "evt.rawres", when = "evt.is_io_read"},
    {title_out, name = title_out:lower(), kind = "bytes", field = "evt.rawres", when = "evt.is_io_write"},
  }
end
