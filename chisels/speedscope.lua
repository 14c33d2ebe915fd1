-- SPDX-License-Identifier: Apache-2.0
description = "Makes a file that speedscope.app opens, of sampled stacks: one profile of all processes, and one of each. Needs a capture with samples: saker profile -w FILE, or saker --sample 99 -w FILE."
short_description = "Make a speedscope profile of sampled stacks"
category = "Performance"

local report = require "report"
local stacks = require "stacks"

local arg = report.args {
  {name = "name", default = "saker", description = "name of the profile"},
}

-- Functions by number, and their numbers. All lines of a function count as the first one that was captured.
local frames, numbers, number_by_frame = {}, {}, {}

local function number_of(frame)
  local number = number_by_frame[frame]
  if number then return number end
  local key = frame.kind .. "\t" .. frame.label .. "\t" .. (frame.module or "") .. "\t" .. (frame.file or "")
  if not numbers[key] then
    frames[#frames + 1] = frame
    numbers[key] = #frames - 1
  end
  number_by_frame[frame] = numbers[key]
  return numbers[key]
end

local function put_frames()
  for i, f in ipairs(frames) do
    local parts = {'"name":' .. chisel.json(f.label)}
    local file = f.file and f.file ~= "" and f.file or f.module
    if file and file ~= "" then parts[#parts + 1] = '"file":' .. chisel.json(file) end
    if f.line then parts[#parts + 1] = ('"line":%d'):format(f.line) end
    io.write(i > 1 and ",\n" or "", "{", table.concat(parts, ","), "}")
  end
end

-- A stack is packed into four bytes per function: as text, all stacks would take much memory.
local NUMBER = ">I4"

local function path_of(s, process)
  local path = {process}
  if s.thread then path[#path + 1] = NUMBER:pack(number_of {kind = "t", label = s.thread}) end
  for _, frame in ipairs(s.frames) do path[#path + 1] = NUMBER:pack(number_of(frame)) end
  return table.concat(path)
end

local function path_text(path)
  return "[" .. path:gsub("....", function(code) return ("%d,"):format(NUMBER:unpack(code)) end):sub(1, -2) .. "]"
end

-- Sorts the stacks, so that the view in order of time joins those with the same outer frames.
local function in_order(list, paths)
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted, function(a, b)
    if paths[a] ~= paths[b] then return paths[a] < paths[b] end
    return a.key < b.key
  end)
  return sorted
end

-- Writes the profile of one process, or of all, with the process as the outermost frame. Writes piece by
-- piece: as one text, it would take much memory.
local function put_profile(profile, name, list, with_process)
  local value, paths, processes, total = profile:value(), {}, {}, 0
  for _, s in ipairs(list) do
    local process = with_process and (processes[s.root] or NUMBER:pack(number_of {kind = "p", label = s.root}))
    processes[s.root] = process
    paths[s] = path_of(s, process or nil)
    total = total + value(s)
  end
  list = in_order(list, paths)
  io.write(('{"type":"sampled","name":%s,"unit":"%s","startValue":0,"endValue":%d,\n"samples":[')
    :format(chisel.json(name), profile:is_time() and "nanoseconds" or "none", total))
  for i, s in ipairs(list) do io.write(i > 1 and "," or "", path_text(paths[s])) end
  io.write('],\n"weights":[')
  for i, s in ipairs(list) do io.write(i > 1 and "," or "", ("%d"):format(value(s))) end
  io.write("]}")
end

local function by_process(profile)
  local lists, names = {}, {}
  for _, s in ipairs(profile:list()) do
    if not lists[s.root] then
      lists[s.root] = {}
      names[#names + 1] = s.root
    end
    table.insert(lists[s.root], s)
  end
  return lists, names
end

local function put(profile)
  local lists, names = by_process(profile)
  io.write('{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"saker","name":',
           chisel.json(arg.name), ',"activeProfileIndex":0,\n"profiles":[\n')
  put_profile(profile, arg.name, profile:list(), true)
  if #names > 1 then
    for _, name in ipairs(names) do
      io.write(",\n")
      put_profile(profile, name, lists[name], false)
    end
  end
  io.write('],\n"shared":{"frames":[\n')
  put_frames()
  io.write("]}}\n")
end

stacks.view {source = true, put = put}
