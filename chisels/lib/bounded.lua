-- SPDX-License-Identifier: Apache-2.0
-- A table that cannot grow without end: require "bounded", then bounded(N) makes one with get, put,
-- take and each. It holds the last N keys at least, 2 N at most: what was put longest ago goes first.
-- evicted(value), if given, is called for each value that goes for lack of room.
return function(max, evicted)
  local young, old, n = {}, {}, 0
  local all = {}

  function all.get(key)
    local value = young[key]
    if value == nil then return old[key] end
    return value
  end

  function all.put(key, value)
    if young[key] == nil then
      if n == max then
        if evicted then
          for k, v in pairs(old) do
            if k ~= key then evicted(v) end
          end
        end
        young, old, n = {}, young, 0
      end
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

  -- For loops over keys and values, in no order.
  function all.each()
    return coroutine.wrap(function()
      for key, value in pairs(old) do coroutine.yield(key, value) end
      for key, value in pairs(young) do coroutine.yield(key, value) end
    end)
  end

  return all
end
