-- SPDX-License-Identifier: Apache-2.0
description = "Counts the open files that were used by any filter field: connections by fd.cip, files by proc.name, ... A file counts once for each pair of name and file descriptor number, whichever process used it."
short_description = "Number of files used, by a field of your choice"
category = "I/O"

local SEEN_MAX = 500000 -- files by key

local number, name, seen
local n_seen, n_lost = 0, 0

-- Returns 1 for a file that has not been counted for this key yet.
local function unseen(key)
  local by = seen[key[1]] or {}
  seen[key[1]] = by
  local fd = evt.field(number) .. " " .. evt.field(name)
  if by[fd] then return nil end
  if n_seen >= SEEN_MAX then
    n_lost = n_lost + 1
    return nil
  end
  by[fd], n_seen = true, n_seen + 1
  return 1
end

require "toplist" {
  no_container = true,
  args = {{name = "key", check = require "report".field, description = "the field to count by, such as fd.type"}},
  filter = "fd.num>0 and fd.name exists and fd.name!=''",
  keys = {{function(arg) return arg.key:upper() end, function(arg) return arg.key end}},
  values = {{"FILES", name = "files", of = unseen}},
  restart = function() seen, n_seen = {}, 0 end,
  lost = function()
    if n_lost == 0 then return nil end
    return ("%d events of files beyond the first %d are not counted"):format(n_lost, SEEN_MAX)
  end,
  init = function() number, name = chisel.request_field("fd.num"), chisel.request_field("fd.name") end,
}
