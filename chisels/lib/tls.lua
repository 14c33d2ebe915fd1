-- SPDX-License-Identifier: Apache-2.0
-- A parser of the first message of a TLS connection (ClientHello, RFC 8446): require "tls",
-- tls.client_hello(bytes). Messages are hostile: every length is checked, and the text made of a message is
-- bounded.
local tls = {}

tls.LONGEST = 1 << 16 -- bytes that are parsed, at most

local HANDSHAKE, CLIENT_HELLO = 22, 1
local SERVER_NAME, ALPN, SUPPORTED_VERSIONS, ECH = 0, 16, 43, 0xfe0d
local NAMES_MAX = 8

local versions = {
  [0x0300] = "SSL3.0", [0x0301] = "TLS1.0", [0x0302] = "TLS1.1", [0x0303] = "TLS1.2", [0x0304] = "TLS1.3",
}

local function u16(data, at)
  local a, b = data:byte(at, at + 1)
  return b and a << 8 | b or nil
end

-- Replaces control characters and spaces in a name.
local function printable(text) return (text:sub(1, 255):gsub("[^!-~]", ".")) end

-- Whether the bytes can be the beginning of a ClientHello.
function tls.may_begin(data)
  local kind, major, minor, high, low, message = data:byte(1, 6)
  return kind == HANDSHAKE and (not major or major == 3) and (not minor or minor <= 4) and
         (not low or high << 8 | low > 0 and high << 8 | low <= 1 << 14) and
         (not message or message == CLIENT_HELLO)
end

-- Joins the contents of the records, as a message can be in several. Returns "whole" and the message; "more",
-- its part and its length, if that is known; or "bad" if it is another message.
local function message_of(data)
  local parts, len, at = {}, 0, 1
  local needed = nil
  while not needed or len < needed do
    local size = u16(data, at + 3)
    if at + 5 > #data + 1 or not size then return "more", table.concat(parts), needed end
    if data:byte(at) ~= HANDSHAKE or size == 0 or size > 1 << 14 then return "bad" end
    local part = data:sub(at + 5, at + 4 + size)
    parts[#parts + 1], len, at = part, len + #part, at + 5 + size
    if not needed and len >= 4 then
      local begin = table.concat(parts)
      parts = {begin}
      if begin:byte(1) ~= CLIENT_HELLO then return "bad" end
      needed = (begin:byte(2) << 16 | u16(begin, 3)) + 4
      if needed > tls.LONGEST then return "bad" end
    end
    if #part < size and not (needed and len >= needed) then return "more", table.concat(parts), needed end
  end
  return "whole", table.concat(parts):sub(1, needed)
end

-- ---- extensions, from the byte `at` to the byte `last` ----

local function server_name(data, at, last)
  if at + 4 > last or data:byte(at + 2) ~= 0 then return nil end
  local len = u16(data, at + 3)
  if len == 0 or at + 4 + len > last then return nil end
  return printable(data:sub(at + 5, at + 4 + len))
end

local function protocols(data, at, last)
  local list = {}
  at = at + 2
  while at <= last and #list < NAMES_MAX do
    local len = data:byte(at)
    if len == 0 or at + len > last then break end
    list[#list + 1] = printable(data:sub(at + 1, at + len))
    at = at + 1 + len
  end
  return #list > 0 and list or nil
end

-- Returns the highest offered version; reserved values (GREASE, RFC 8701) do not count.
local function highest_version(data, at, last)
  local best = nil
  for i = at + 1, math.min(last - 1, at + 255), 2 do
    local version = u16(data, i)
    if versions[version] and (not best or version > best) then best = version end
  end
  return best
end

local function read_extensions(hello, data, at, last)
  local version = nil
  while at + 3 <= last do
    local kind, len = u16(data, at), u16(data, at + 2)
    local first, final = at + 4, at + 3 + len
    if final > last then return false end
    if kind == SERVER_NAME then
      hello.sni = server_name(data, first, final)
    elseif kind == ALPN then
      hello.alpn = protocols(data, first, final)
    elseif kind == SUPPORTED_VERSIONS then
      version = highest_version(data, first, final)
    elseif kind == ECH then
      hello.ech = true
    end
    if version then hello.version, hello.has_versions = versions[version], true end
    at = final + 1
  end
  return true
end

-- Fills hello. Returns false if the message ends too early.
local function read_hello(hello, data)
  local version = u16(data, 5)
  if not version or version >> 8 ~= 3 then return false end
  hello.version = versions[version]
  local at = 5 + 2 + 32
  local session = data:byte(at)
  local ciphers = session and u16(data, at + 1 + session)
  local methods = ciphers and data:byte(at + 3 + session + ciphers)
  if not methods then return false end
  at = at + 4 + session + ciphers + methods
  if at > #data then return true end -- no extensions at all
  local len = u16(data, at)
  if not len then return false end
  return read_extensions(hello, data, at + 2, math.min(at + 1 + len, #data)) and at + 1 + len <= #data
end

-- Returns {sni, alpn = {names}, version, ech, partial}; nil and "more" if bytes are missing; nil and "bad" if
-- it is no ClientHello. no_more: no further bytes will come, so an incomplete message is returned as partial.
function tls.client_hello(data, no_more)
  if not tls.may_begin(data) then return nil, "bad" end
  local state, message = message_of(data)
  if state == "bad" then return nil, "bad" end
  if state == "more" and not no_more then return nil, "more" end
  local hello = {}
  local whole = read_hello(hello, message)
  if state == "whole" and not whole then return nil, "bad" end
  if not hello.version then return nil, state == "more" and "more" or "bad" end
  if not whole then
    hello.partial = true
    -- Since TLS 1.3 the versions are an extension, and this field always says 1.2.
    if not hello.has_versions and hello.version == "TLS1.2" then hello.version = nil end
  end
  return hello
end

return tls
