-- SPDX-License-Identifier: Apache-2.0
-- Splits events of sendmmsg and recvmmsg: messages(DATA, ENTRIES), of the raw arguments data and messages, returns
-- a list of the captured messages, {data, size}. The size of the first is nil if the event has no entries: files of
-- other tools lack them, and calls that moved one message.
local HEAD = "<I4I2I2" -- sizes of the message, and of the address and the data that follow

return function(data, entries)
  local list, at = {}, 1
  entries = entries or ""
  while at + HEAD:packsize() - 1 <= #entries do
    local size, address, captured = HEAD:unpack(entries, at)
    at = at + HEAD:packsize() + address
    list[#list + 1] = {data = entries:sub(at, at + captured - 1), size = size}
    at = at + captured
  end
  if not list[1] then return {{data = data}} end
  list[1].data = data
  return list
end
