-- SPDX-License-Identifier: Apache-2.0
-- For some seconds, as the tables of the program come late on a busy machine: each turn waits, twice, below functions
-- that no stack had before.
local began, i = os.time(), 0
repeat
  i = i + 1
  local chunk = "=chunk" .. i
  local inner = load("kernel_nap()\nkernel_nap()\nreturn 1", chunk)
  local outer = load("local f = ...\nreturn function()\n  through(f)\n  return 1\nend", chunk)(inner)
  through(outer)
  pause()
until os.time() - began > 5
