-- SPDX-License-Identifier: Apache-2.0
-- The JSON module of chisels: require "dkjson". encode(value [, {indent = true}]) returns text;
-- decode(text [, position]) returns the value and the position after it, or nil, the position of the
-- error and what is wrong there.
local json = {null = setmetatable({}, {__tojson = true})}

function json.encode(value, options)
  return chisel.json(value, options and options.indent)
end

local unescapes = {b = "\b", f = "\f", n = "\n", r = "\r", t = "\t"}

local function skip(text, at)
  return text:find("[^ \t\r\n]", at) or #text + 1
end

local function fail(at, what)
  error({at = at, what = what}, 0)
end

local function read_string(text, at)
  local parts, i = {}, at + 1
  while true do
    local j = text:find('["\\]', i)
    if not j then fail(at, "a string does not end") end
    parts[#parts + 1] = text:sub(i, j - 1)
    if text:sub(j, j) == '"' then return table.concat(parts), j + 1 end
    local c = text:sub(j + 1, j + 1)
    i = j + 2
    if c == "u" then
      local code = tonumber(text:match("^%x%x%x%x", i), 16) or fail(j, "\\u needs four digits")
      i = i + 4
      local low = code >= 0xd800 and code < 0xdc00 and text:match("^\\u(%x%x%x%x)", i)
      if low then
        code = 0x10000 + (code - 0xd800) * 0x400 + (tonumber(low, 16) - 0xdc00)
        i = i + 6
      end
      c = utf8.char(code)
    end
    parts[#parts + 1] = unescapes[c] or c
  end
end

local read

local function read_list(text, at, depth)
  local list, n = {}, 0
  at = skip(text, at + 1)
  if text:sub(at, at) == "]" then return list, at + 1 end
  while true do
    n = n + 1
    list[n], at = read(text, at, depth)
    at = skip(text, at)
    local c = text:sub(at, at)
    if c == "]" then return list, at + 1 end
    if c ~= "," then fail(at, "',' or ']' is missing") end
    at = at + 1
  end
end

local function read_object(text, at, depth)
  local object = {}
  at = skip(text, at + 1)
  if text:sub(at, at) == "}" then return object, at + 1 end
  while true do
    local key
    at = skip(text, at)
    if text:sub(at, at) ~= '"' then fail(at, "a name in quotes is missing") end
    key, at = read_string(text, at)
    at = skip(text, at)
    if text:sub(at, at) ~= ":" then fail(at, "':' is missing") end
    object[key], at = read(text, at + 1, depth)
    at = skip(text, at)
    local c = text:sub(at, at)
    if c == "}" then return object, at + 1 end
    if c ~= "," then fail(at, "',' or '}' is missing") end
    at = at + 1
  end
end

function read(text, at, depth)
  at = skip(text, at)
  local c = text:sub(at, at)
  if depth > 100 then fail(at, "too deep") end
  if c == '"' then return read_string(text, at) end
  if c == "[" then return read_list(text, at, depth + 1) end
  if c == "{" then return read_object(text, at, depth + 1) end
  local word = text:match("^%a+", at)
  if word == "true" then return true, at + 4 end
  if word == "false" then return false, at + 5 end
  if word == "null" then return nil, at + 4 end
  local digits = text:match("^-?%d+%.?%d*[eE]?[-+]?%d*", at)
  local n = tonumber(digits)
  if not n then fail(at, "no value") end
  return n, at + #digits
end

function json.decode(text, position)
  local ok, value, at = pcall(read, text, position or 1, 0)
  if ok then return value, at end
  if type(value) ~= "table" then error(value, 0) end
  return nil, value.at, value.what
end

return json
