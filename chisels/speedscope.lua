-- SPDX-License-Identifier: Apache-2.0
description = "Sampled stacks as a file that speedscope.app opens: one profile of all processes, and one of each. Needs a capture with samples: saker profile -w FILE, or saker --sample 99 -w FILE."
short_description = "Make a speedscope profile of sampled stacks"
category = "Performance"

local report = require "report"
local stacks = require "stacks"

local arg = report.args {
  {name = "name", default = "saker", description = "Name of the profile"},
}

local escapes = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t"}
local function quoted(text) return '"' .. text:gsub('[%c"\\]', function(c)
  return escapes[c] or ("\\u%04x"):format(c:byte())
end) .. '"' end

-- Functions, whatever line of them it is: the first one that was seen stands for all.
local frames, numbers = {}, {}

local function number_of(frame)
  local key = frame.kind .. "\t" .. frame.name .. "\t" .. (frame.module or "") .. "\t" .. (frame.file or "")
  if not numbers[key] then
    frames[#frames + 1] = frame
    numbers[key] = #frames - 1
  end
  return numbers[key]
end

local function put_frames()
  for i, f in ipairs(frames) do
    local parts = {'"name":' .. quoted(f.name)}
    local file = f.file ~= "" and f.file or f.module
    if file and file ~= "" then parts[#parts + 1] = '"file":' .. quoted(file) end
    if f.line then parts[#parts + 1] = ('"line":%d'):format(f.line) end
    io.write(i > 1 and ",\n" or "", "{", table.concat(parts, ","), "}")
  end
end

-- Stacks that begin alike stand together, so that the view in order of time shows them as one.
local function in_order(list)
  local keys, sorted = {}, table.move(list, 1, #list, 1, {})
  for _, s in ipairs(list) do keys[s] = stacks.folded(s) end
  table.sort(sorted, function(a, b)
    if keys[a] ~= keys[b] then return keys[a] < keys[b] end
    return a.key < b.key
  end)
  return sorted
end

-- The stacks of one process, or of all with its name below them.
local function made(profile, name, list, with_process)
  list = in_order(list)
  local value, samples, weights, total = profile:value(), {}, {}, 0
  for _, s in ipairs(list) do
    local path = {}
    if with_process then path[1] = number_of {kind = "p", name = s.comm} end
    for _, frame in ipairs(s.frames) do path[#path + 1] = number_of(frame) end
    samples[#samples + 1] = "[" .. table.concat(path, ",") .. "]"
    weights[#weights + 1] = ("%d"):format(value(s))
    total = total + value(s)
  end
  return ('{"type":"sampled","name":%s,"unit":"%s","startValue":0,"endValue":%d,\n"samples":[%s],\n"weights":[%s]}')
    :format(quoted(name), profile:is_time() and "nanoseconds" or "none", total,
            table.concat(samples, ","), table.concat(weights, ","))
end

local function by_process(profile)
  local lists, names = {}, {}
  for _, s in ipairs(profile:list()) do
    if not lists[s.comm] then
      lists[s.comm] = {}
      names[#names + 1] = s.comm
    end
    table.insert(lists[s.comm], s)
  end
  return lists, names
end

local function put(profile)
  local profiles, lists, names = {}, by_process(profile)
  profiles[1] = made(profile, arg.name, profile:list(), true)
  if #names > 1 then
    for _, name in ipairs(names) do profiles[#profiles + 1] = made(profile, name, lists[name], false) end
  end
  io.write('{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"saker","name":',
           quoted(arg.name), ',"activeProfileIndex":0,\n"shared":{"frames":[\n')
  put_frames()
  io.write("]},\n\"profiles\":[\n", table.concat(profiles, ",\n"), "]}\n")
end

stacks.view {source = true, put = put}
