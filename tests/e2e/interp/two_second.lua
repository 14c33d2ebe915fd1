-- SPDX-License-Identifier: Apache-2.0
local function second_spin(ends)
  local n = 0
  while os.clock() < ends do
    for i = 1, 10000 do n = n + i % 3 end
  end
end
local function second_calls()
  second_spin(os.clock() + 0.01)
  return 1
end
return second_calls() + 1
