-- SPDX-License-Identifier: Apache-2.0
-- A table that cannot grow without end: require "bounded", then bounded(N) makes one with get, put
-- and take. It holds the last N keys at least, 2 N at most: what was put longest ago goes first.
return function(max)
  local young, old, n = {}, {}, 0
  local all = {}

  function all.get(key)
    local value = young[key]
    if value == nil then return old[key] end
    return value
  end

  function all.put(key, value)
    if young[key] == nil then
      if n == max then young, old, n = {}, young, 0 end
      n = n + 1
    end
    young[key], old[key] = value, nil
  end

  -- Removes the key; its value, or nil.
  function all.take(key)
    local value = all.get(key)
    if young[key] ~= nil then n = n - 1 end
    young[key], old[key] = nil, nil
    return value
  end

  return all
end
