-- SPDX-License-Identifier: Apache-2.0
-- Fields of messages of Protocol Buffers, as text.

local protobuf = {}

local function varint(n)
  local bytes = {}
  while n > 127 or n < 0 do
    bytes[#bytes + 1] = string.char(n & 0x7f | 0x80)
    n = n >> 7
  end
  bytes[#bytes + 1] = string.char(n)
  return table.concat(bytes)
end

-- Leaves out fields that are 0 or empty.
function protobuf.number(field, n) return n == 0 and "" or varint(field << 3) .. varint(n) end

function protobuf.fixed64(field, n) return varint(field << 3 | 1) .. string.pack("<i8", n) end

function protobuf.bytes(field, s) return varint(field << 3 | 2) .. varint(#s) .. s end

function protobuf.packed(field, list)
  local parts = {}
  for i, n in ipairs(list) do parts[i] = varint(n) end
  return protobuf.bytes(field, table.concat(parts))
end

return protobuf
