-- SPDX-License-Identifier: Apache-2.0
description = "Makes a pprof profile of sampled stacks (profile.proto, not compressed): go tool pprof -http=: FILE. Redirect the output to a file, or use saker profile -o FILE.pb.gz. Needs a capture with samples: saker profile -w FILE, or saker --sample 99 -w FILE."
short_description = "Make a pprof profile of sampled stacks"
category = "Performance"

local profiletables = require "profiletables"
local protobuf = require "protobuf"
local report = require "report"
local stacks = require "stacks"

local arg = report.args {}
local number, bytes, packed = protobuf.number, protobuf.bytes, protobuf.packed

-- ---- tables of the profile: entries are numbered in order of arrival ----

local strings, string_numbers = {""}, {[""] = 0}
local function str(text)
  local n = string_numbers[text]
  if not n then
    n = #strings
    strings[n + 1], string_numbers[text] = text, n
  end
  return n
end

local out = {} -- by table: its messages, in the order of their numbers
local function numbered()
  local numbers, n = {}, 0
  return function(key, make)
    if not numbers[key] then
      n = n + 1
      numbers[key] = n
      local message = make(n) -- adds the entries that it refers to
      out[#out + 1] = message
    end
    return numbers[key]
  end
end
local mappings, functions, locations = numbered(), numbered(), numbered()

local build_id -- function(module): returns its build id in hex, or ""

local function mapping(frame)
  if frame.module == "" then return 0 end
  return mappings(frame.module, function(id)
    -- Places are addresses within the file: each file is mapped at 0.
    return bytes(3, number(1, id) .. number(3, 0x7fffffffffffffff) .. number(5, str(frame.module))
      .. number(6, str(build_id(frame.module))) .. number(7, 1) .. number(8, 1) .. number(9, 1) .. number(10, 1))
  end)
end

local function func(frame)
  return functions(profiletables.function_key(frame), function(id)
    return bytes(5, number(1, id) .. number(2, str(frame.label)) .. number(3, str(frame.name))
      .. number(4, str(frame.file)))
  end)
end

local function location(frames)
  return locations(profiletables.location_key(frames), function(id)
    local lines = {}
    for i, f in ipairs(frames) do
      lines[i] = bytes(4, number(1, func(f)) .. number(2, f.line or 0))
    end
    return bytes(4, number(1, id) .. number(2, mapping(frames[#frames])) .. number(3, profiletables.address(frames))
      .. table.concat(lines))
  end)
end

local function value_type(field, type, unit)
  return bytes(field, number(1, str(type)) .. number(2, str(unit)))
end

local function label(name, value) return bytes(3, number(1, str(name)) .. value) end

local function sample(s, is_time)
  local values = is_time and {s.n, s.ns} or {s.n}
  return bytes(2, packed(1, profiletables.locations(s, location)) .. packed(2, values)
    .. label("process", number(2, str(s.process))) .. (s.pid and label("pid", number(3, s.pid)) or "")
    .. label("thread", number(2, str(s.thread or s.process))))
end

local function is_program(frame) return not frame.module:find("%.so[.%d]*$") end

-- Returns the outermost frame in a program; else the outermost one in a library, where threads begin.
local function program_frame(frames)
  local first
  for _, frame in ipairs(frames) do
    if frame.kind == "u" and frame.module:sub(1, 1) == "/" then
      if is_program(frame) then return frame end
      first = first or frame
    end
  end
  return first
end

-- pprof shows the first mapping as the program: so the one with the most time is first, programs before
-- libraries.
local function map_program_first(profile, list)
  local sums, best, value = {}, nil, profile:value()
  for _, s in ipairs(list) do
    local frame = program_frame(s.frames)
    if frame then
      local sum = sums[frame.module] or {value = 0, frame = frame, is_program = is_program(frame)}
      sums[frame.module], sum.value = sum, sum.value + value(s)
    end
  end
  for _, sum in pairs(sums) do
    if not best or (sum.is_program and not best.is_program)
       or (sum.is_program == best.is_program and (sum.value > best.value
           or sum.value == best.value and sum.frame.module < best.frame.module)) then
      best = sum
    end
  end
  if best then mapping(best.frame) end
end

-- Writes the finished messages, to free their memory.
local function flush()
  io.write(table.concat(out))
  for i = #out, 1, -1 do out[i] = nil end
end

local types = {cpu = "cpu", off_cpu = "off-cpu"}

local function put(profile)
  local is_time, type = profile:is_time(), types[profile:what()] or "time"
  out[1] = value_type(1, "samples", "count")
  if is_time then out[2] = value_type(1, type, "nanoseconds") end
  build_id = function(module) return profile:build_id(module) end
  local list = profile:list()
  map_program_first(profile, list)
  for _, s in ipairs(list) do
    local message = sample(s, is_time) -- adds the entries that it refers to, before it
    out[#out + 1] = message
    if #out > 1000 then flush() end
  end
  out[#out + 1] = number(9, profile.first) .. number(10, profile.last - profile.first)
  if is_time then
    out[#out + 1] = value_type(11, type, "nanoseconds") .. number(12, profile.ns // profile.n)
    out[#out + 1] = number(14, str(type))
  end
  for _, text in ipairs(strings) do out[#out + 1] = bytes(6, text) end
  flush()
end

stacks.view {source = true, build_ids = true, init = profiletables.is_wanted("pprof", "pb.gz"), put = put}
