-- SPDX-License-Identifier: Apache-2.0
-- What the profiles of pprof and OTLP, which have numbered tables of functions and locations, have in common:
-- require "profiletables".
local report = require "report"
local stacks = require "stacks"
local tables = {}

-- Returns the key of the frame's function.
function tables.function_key(frame)
  return stacks.function_key(frame) .. "\t" .. frame.file .. "\t" .. frame.module
end

-- A location is an address with its frames: the inlined functions, innermost first, then the function that contains
-- them.
function tables.location_key(frames)
  local outer, key = frames[#frames], {}
  for i, f in ipairs(frames) do key[i] = f.name .. "\t" .. f.file .. "\t" .. (f.line or "") end
  return outer.module .. "\t" .. outer.place .. "\t" .. table.concat(key, "\n")
end

-- Returns the address of a location within its file; 0: it has none.
function tables.address(frames) return math.tointeger(tonumber(frames[#frames].place, 16) or 0) or 0 end

-- Returns what location(frames) returns for each address of the sample, innermost first.
function tables.locations(sample, location)
  local list, same, frames = {}, {}, sample.frames
  for i = stacks.n_to_wait(frames), 1, -1 do
    same[#same + 1] = frames[i]
    if frames[i].kind ~= "i" then
      list[#list + 1] = location(same)
      same = {}
    end
  end
  return list
end

-- Returns a function that tells whether the profile can be written, or why not: a terminal shows no bytes.
function tables.is_wanted(chisel_name, extension)
  return function()
    if not sysdig.is_tty() or report.is_json() then return true end
    io.stderr:write(("saker: %s: cannot print a profile to a terminal: it is binary; redirect it to a file, or use saker profile -o FILE.%s\n")
                    :format(chisel_name, extension))
    return false
  end
end

return tables
