-- SPDX-License-Identifier: Apache-2.0
-- A loop below many Lua functions: deep.lua FUNCTIONS SECONDS. It alone uses the CPU.
local function spin(ends)
  local n = 0
  while os.clock() < ends do
    for i = 1, 10000 do n = n + i % 3 end
  end
end

local function down(n, ends)
  if n > 0 then down(n - 1, ends) else spin(ends) end
  return n
end

down(tonumber(arg[1]), os.clock() + tonumber(arg[2]))
