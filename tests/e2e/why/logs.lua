-- SPDX-License-Identifier: Apache-2.0
-- chisel.log and evt.field for tests, with events made by hand: require "logs", then feed(VALUES) is an event with these
-- values of fields.
local spans = require "spans"
local values, logs = {}, {}
evt.field = function(f) return values[f] end
chisel.request_field = function(name) return name end

-- A filter is conditions joined by and: "a=b", "a!=b", "a>=b", "a<b", "a contains b", "a exists", "[not ]a in (b, c)".
local function number_or_text(text) return math.tointeger(tonumber(text)) or text end

local COMPARE = {
  ["="] = function(a, b) return a == b end, ["!="] = function(a, b) return a ~= b end,
  [">="] = function(a, b) return a >= b end, ["<"] = function(a, b) return a < b end,
}

local function condition(text)
  local name, list = text:match("^n?o?t? ?([%w._]+) in %((.*)%)$")
  local is_not = text:sub(1, 4) == "not "
  if name then
    return function(v) return ((", " .. list .. ", "):find(", " .. tostring(v[name]) .. ", ", 1, true) ~= nil) ~= is_not end
  end
  name = text:match("^([%w._]+) exists$")
  if name then return function(v) return v[name] ~= nil end end
  local value
  name, value = text:match("^([%w._]+) contains (.*)$")
  if name then return function(v) return v[name] ~= nil and v[name]:find(value, 1, true) ~= nil end end
  local op
  name, op, value = text:match("^([%w._]+)([=!<>]+)(.*)$")
  return function(v) return v[name] ~= nil and COMPARE[op](v[name], number_or_text(value)) end
end

local function conditions(text)
  local all = {}
  for part in (text .. " and "):gmatch("(.-) and ") do all[#all + 1] = condition(part) end
  return function(v)
    for _, is_met in ipairs(all) do if not is_met(v) then return false end end
    return true
  end
end

local Log = {}
Log.__index = Log

function Log:keep(v)
  local r = {time = v["evt.rawtime"]}
  for i, name in ipairs(self.fields) do r[i] = v[name] end
  r.b = self.begin and v[self.begin]
  r.e = r.b and r.b + v[self.length]
  local list = self.lists[v[self.keys[1]]]
  if self.only and list then
    if self.only == "last" then self.records[list[1]] = r end
    return
  end
  self.records[#self.records + 1] = r
  for _, name in ipairs(self.keys) do
    local key = v[name]
    list = key and self.lists[key] or {}
    if key and list[#list] ~= #self.records then
      list[#list + 1], self.lists[key] = #self.records, list
      self:add_span(key, #list, r)
    end
  end
end

-- The spans of a list, as spans.lua wants them.
function Log:add_span(key, i, r)
  if not r.b then return end
  local items = self.spans[key] or {}
  self.spans[key], items[i], items.last = items, r, i
  spans.added(items)
end

function Log:span(key)
  local list = key and self.lists[key] or not key and self.records
  if not list then return end
  return 1, #list
end

function Log:number(key, i) return (self.lists[key] or {})[i] end

function Log:values(number)
  local r = self.records[number]
  if r then return table.unpack(r, 1, #self.fields) end
end

function Log:times(number) return self.records[number].b, self.records[number].e end

function Log:after(key, ns)
  local list = self.lists[key]
  local low, high = 1, list and #list + 1
  while list and low < high do
    local middle = (low + high) // 2
    if self.records[list[middle]].time > ns then high = middle else low = middle + 1 end
  end
  return list and low
end

function Log:overlapping(key, i, a, b) return self.spans[key] and spans.next(self.spans[key], i, a, b) end

function chisel.log(options)
  options.records, options.lists, options.spans, options.is_met = {}, {}, {}, conditions(options.filter)
  logs[#logs + 1] = setmetatable(options, Log)
  return options
end

return function(v)
  values = v
  v["evt.type"] = v["thread.slice.start"] and "slice" or v["request.begin"] and "request" or "sample"
  for _, log in ipairs(logs) do if log.is_met(v) then log:keep(v) end end
end
