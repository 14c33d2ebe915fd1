-- SPDX-License-Identifier: Apache-2.0
-- Each turn waits below functions that no stack had before.
for i = 1, 40 do
  local chunk = "=chunk" .. i
  local inner = load("paged_nap()\nreturn 1", chunk)
  local outer = load("local f = ...\nreturn function()\n  through(f)\n  return 1\nend", chunk)(inner)
  through(outer)
end
local function with_child() child_naps(40) end
with_child()
