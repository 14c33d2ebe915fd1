-- SPDX-License-Identifier: Apache-2.0
-- Each turn waits, twice, below functions that no stack had before.
for i = 1, 100 do
  local chunk = "=chunk" .. i
  local inner = load("kernel_nap()\nkernel_nap()\nreturn 1", chunk)
  local outer = load("local f = ...\nreturn function()\n  through(f)\n  return 1\nend", chunk)(inner)
  through(outer)
end
