-- SPDX-License-Identifier: Apache-2.0
local function first_spin(ends)
  local n = 0
  while os.clock() < ends do
    for i = 1, 10000 do n = n + i % 3 end
  end
end
local function first_calls(ends)
  repeat
    first_spin(os.clock() + 0.01)
    call_second(script)
  until os.clock() > ends
end
first_calls(os.clock() + 1)
