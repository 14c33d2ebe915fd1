-- SPDX-License-Identifier: Apache-2.0
-- The module "common" of sysdig: its functions become globals of the chisel.
json = require "dkjson"

ONE_S_IN_NS = 1000000000
ONE_MS_IN_NS = 1000000
ONE_US_IN_NS = 1000

-- Returns a value as text, tables with their contents.
function st(value, name, one_line, depth)
  depth = depth or 0
  local pad, nl = (" "):rep(depth), one_line and "" or "\n"
  local head = pad .. (name and name .. " = " or "")
  local kind = type(value)
  if kind == "table" then
    local parts = {head .. "{" .. nl}
    for k, v in pairs(value) do parts[#parts + 1] = st(v, k, one_line, depth + 1) .. "," .. nl end
    return table.concat(parts) .. pad .. "}"
  elseif kind == "string" then
    return head .. ("%q"):format(value)
  elseif kind == "number" or kind == "boolean" then
    return head .. tostring(value)
  end
  return head .. '"[inserializeable datatype:' .. kind .. ']"'
end

-- Pads or cuts text to a width; cut text ends with a space.
function extend_string(s, width)
  if #s < width then return s .. (" "):rep(width - #s) end
  return width > 0 and s:sub(1, width - 1) .. " " or ""
end

function split(s, delimiter)
  local parts = {}
  for part in (s .. delimiter):gmatch("(.-)" .. delimiter) do parts[#parts + 1] = part end
  return parts
end

function starts_with(s, prefix)
  return s:sub(1, #prefix) == prefix
end

function ends_with(s, suffix)
  return suffix == "" or s:sub(-#suffix) == suffix
end

-- 1230 is 1.20KB.
function format_bytes(n)
  local unit = 1024 ^ 5
  for _, name in ipairs({"P", "T", "G", "M", "KB"}) do
    if n > unit then return ("%.2f%s"):format(n / unit, name) end
    unit = unit / 1024
  end
  return ("%dB"):format(n)
end

-- Nanoseconds as 1.10s, 15ms, 3.20us.
function format_time_interval(ns)
  for _, unit in ipairs({{ONE_S_IN_NS, "s"}, {ONE_MS_IN_NS, "ms"}, {ONE_US_IN_NS, "us"}}) do
    local size, name = unit[1], unit[2]
    if ns >= size then
      if size < ONE_S_IN_NS and ns >= size * 10 then return ("%d%s"):format(ns // size, name) end
      return ("%d.%02d%s"):format(ns // size, ns % size * 100 // size, name)
    end
  end
  return ("%dns"):format(ns)
end

-- Iterates over the first num keys (0: all), sorted by order(t, a, b).
function pairs_top_by_val(t, num, order)
  local keys, i = {}, 0
  for k in pairs(t) do keys[#keys + 1] = k end
  table.sort(keys, function(a, b) return order(t, a, b) end)
  return function()
    i = i + 1
    if (num == 0 or i <= num) and keys[i] ~= nil then return keys[i], t[keys[i]] end
  end
end

function ts_to_str(s, ns)
  return ("%d%.9d"):format(s, ns)
end

local WIDTH = 20
local texts_of = {
  none = tostring,
  bytes = format_bytes,
  time = format_time_interval,
  timepct = function(v, delta)
    return delta > 0 and ("%.2f%%"):format(v / delta * 100) or "0.00%"
  end,
}

local function print_json(rows, ts_s, ts_ns, info)
  local data, columns = {}, {}
  for k, v in rows do
    local row = split(k, "\001\001")
    row[#row + 1] = v
    data[#data + 1] = row
  end
  for i, name in ipairs(info.key_fld) do
    columns[i] = {name = name, desc = info.key_desc[i], is_key = true}
  end
  columns[#columns + 1] = {name = info.value_fld, desc = info.value_desc, is_key = false}
  print(json.encode({ts = sysdig.make_ts(ts_s, ts_ns), data = data, info = columns}, {indent = true}))
end

-- Prints a table of numbers in descending order. Its keys are columns joined by "\001\001".
function print_sorted_table(t, ts_s, ts_ns, delta, info)
  local rows = pairs_top_by_val(t, info.top_number, function(_, a, b) return t[b] < t[a] end)
  if info.output_format == "json" then return print_json(rows, ts_s, ts_ns, info) end
  local header = extend_string(info.value_desc, WIDTH)
  for _, name in ipairs(info.key_desc) do header = header .. extend_string(name, WIDTH) end
  print(header)
  print(("-"):rep(80))
  for k, v in rows do
    local parts = split(k, "\001\001")
    local line = extend_string(texts_of[info.value_units](v, delta), WIDTH)
    for i = 1, #parts - 1 do line = line .. extend_string(parts[i]:sub(1, WIDTH), WIDTH) end
    print(line .. parts[#parts])
  end
end

-- Returns the number, or ends the run with a message.
function parse_numeric_input(value, name)
  local n = tonumber(value)
  if n == nil then
    print(("Input %s must be a number."):format(name))
    os.exit()
  end
  return n
end

function copytable(t)
  if type(t) ~= "table" then return t end
  local copy = {}
  for k, v in next, t do copy[copytable(k)] = copytable(v) end
  return setmetatable(copy, copytable(getmetatable(t)))
end

function concattable(to, from)
  for i = 1, #from do to[#to + 1] = from[i] end
  return to
end

function typeof(value)
  local kind = type(value)
  local meta = (kind == "table" or kind == "userdata") and getmetatable(value)
  return meta and meta._NAME or kind
end
