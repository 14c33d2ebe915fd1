-- SPDX-License-Identifier: Apache-2.0
description = "Open files that were used, by any field of filters: connections by fd.cip, files by proc.name, ... A file counts once for each name and number that it had, whoever used it."
short_description = "Number of files used, by a field of your choice"
category = "I/O"

local number, name, seen

-- 1 for a file that was not yet counted for this key.
local function unseen(key)
  local by = seen[key[1]] or {}
  seen[key[1]] = by
  local fd = evt.field(number) .. " " .. evt.field(name)
  if by[fd] then return nil end
  by[fd] = true
  return 1
end

require "toplist" {
  no_container = true,
  args = {{name = "key", check = require "report".field, description = "the field to count by, such as fd.type"}},
  filter = "fd.num>0 and fd.name exists and fd.name!=''",
  keys = {{function(arg) return arg.key:upper() end, function(arg) return arg.key end}},
  values = {{"FILES", name = "files", of = unseen}},
  restart = function() seen = {} end,
  init = function() number, name = chisel.request_field("fd.num"), chisel.request_field("fd.name") end,
}
