-- SPDX-License-Identifier: Apache-2.0
description = "Makes an OTLP profile of sampled stacks: the message ExportProfilesServiceRequest of opentelemetry-proto 1.11.0 (profiles v1development), which will change. Redirect the output to a file, or use saker profile -o FILE.otlp. Needs a capture with samples: saker profile -w FILE, or saker --sample 99 -w FILE."
short_description = "Make an OTLP profile of sampled stacks"
category = "Performance"

local profiletables = require "profiletables"
local protobuf = require "protobuf"
local report = require "report"
local stacks = require "stacks"

local arg = report.args {}
local number, bytes, packed = protobuf.number, protobuf.bytes, protobuf.packed

-- ---- the dictionary: tables whose entry 0 is empty; others refer to entries by number ----

local MAPPINGS, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS = 1, 2, 3, 4, 5, 6, 7
local tables = {} -- by field: messages
for field = MAPPINGS, STACKS do tables[field] = {[0] = ""} end

local numbers = {} -- by field and key
local function entry(field, key, make)
  local of = numbers[field] or {}
  numbers[field] = of
  if not of[key] then
    local message = make() -- adds the entries that it refers to
    local list = tables[field]
    of[key] = #list + 1
    list[of[key]] = message
  end
  return of[key]
end

local function str(text)
  return text == "" and 0 or entry(STRINGS, text, function() return text end)
end

-- AnyValue: a text or an integer.
local function attribute(key, value)
  return entry(ATTRIBUTES, key .. "\t" .. value, function()
    local any = math.type(value) == "integer" and protobuf.number(3, value) or bytes(1, value)
    return number(1, str(key)) .. bytes(2, any)
  end)
end

local build_id -- function(module): returns its build id in hex, or ""

local function mapping(frame)
  if frame.module == "" then return 0 end
  return entry(MAPPINGS, frame.module, function()
    local id = build_id(frame.module)
    -- Places are addresses within the file: each file is mapped at 0.
    return number(2, 0x7fffffffffffffff) .. number(4, str(frame.module))
      .. (id == "" and "" or packed(5, {attribute("process.executable.build_id.gnu", id)}))
  end)
end

local function func(frame)
  return entry(FUNCTIONS, profiletables.function_key(frame), function()
    return number(1, str(frame.label)) .. number(2, str(frame.name)) .. number(3, str(frame.file))
  end)
end

local frame_types = {u = "native", i = "native", k = "kernel"}

local function location(frames)
  return entry(LOCATIONS, profiletables.location_key(frames), function()
    local outer, lines = frames[#frames], {}
    local kind = frame_types[outer.kind]
    for i, f in ipairs(frames) do lines[i] = bytes(3, number(1, func(f)) .. number(2, f.line or 0)) end
    return number(1, mapping(outer)) .. number(2, profiletables.address(frames))
      .. table.concat(lines) .. (kind and packed(4, {attribute("profile.frame.type", kind)}) or "")
  end)
end

local function stack(s)
  local list = profiletables.locations(s, location)
  return entry(STACKS, table.concat(list, ","), function() return packed(1, list) end)
end

local function dictionary()
  local parts = {}
  for field = MAPPINGS, STACKS do
    for i = 0, #tables[field] do parts[#parts + 1] = bytes(field, tables[field][i]) end
  end
  return table.concat(parts)
end

-- ---- profiles: one for each type of value ----

local function value_type(type, unit) return number(1, str(type)) .. number(2, str(unit)) end

local function sample(s, value)
  local attributes = {attribute("process.executable.name", s.process), attribute("thread.name", s.thread or s.process)}
  if s.pid then attributes[3] = attribute("process.pid", s.pid) end
  return number(1, stack(s)) .. packed(2, attributes) .. packed(4, {value})
end

local function make(profile, list, type, unit, value)
  local parts = {bytes(1, value_type(type, unit))}
  for _, s in ipairs(list) do parts[#parts + 1] = bytes(2, sample(s, value(s))) end
  parts[#parts + 1] = protobuf.fixed64(3, profile.first) .. number(4, profile.last - profile.first)
  if unit == "nanoseconds" then
    parts[#parts + 1] = bytes(5, value_type(type, unit)) .. number(6, profile.ns // profile.n)
  end
  return bytes(2, table.concat(parts))
end

local function text_attribute(key, text) return bytes(1, bytes(1, key) .. bytes(2, bytes(1, text))) end

local types = {cpu = "cpu", off_cpu = "off_cpu"}

local function put(profile)
  local list, made = profile:list(), {}
  build_id = function(module) return profile:build_id(module) end
  made[1] = make(profile, list, "samples", "count", function(s) return s.n end)
  if profile:is_time() then
    made[2] = make(profile, list, types[profile:what()] or "time", "nanoseconds", function(s) return s.ns end)
  end
  local resource = text_attribute("service.name", "saker")
    .. text_attribute("host.name", sysdig.get_machine_info().hostname or "")
  local scope = bytes(1, bytes(1, "saker")) .. table.concat(made)
  io.write(bytes(1, bytes(1, resource) .. bytes(2, scope)), bytes(2, dictionary()))
end

stacks.view {source = true, build_ids = true, init = profiletables.is_wanted("otlpprofile", "otlp"), put = put}
