-- SPDX-License-Identifier: Apache-2.0
-- Writes lanes of slices, requests and samples for other viewers: require "timetrace". Chrome's trace format is what
-- Perfetto opens; it shows samples as instants with the stack in args, not those in "samples" and "stackFrames" of
-- that format. Firefox's profiler opens a Gecko profile, of which a lane is a thread with markers and samples.
local stacks = require "stacks"
local stacktree = require "stacktree"
local timetrace = {}

-- Returns a function that writes values as elements of a JSON array.
local function array()
  local separator = ""
  return function(value)
    io.write(separator, chisel.json(value))
    separator = ",\n"
  end
end

-- ---- Chrome ----

local function put_span(put, pid, tid, id, span, first)
  local args = {what = span.text}
  put {ph = "b", cat = "request", name = span.name, id = id, pid = pid, tid = tid, ts = (span.begin - first) / 1000,
       args = args}
  put {ph = "e", cat = "request", name = span.name, id = id, pid = pid, tid = tid,
       ts = (span.begin + span.ns - first) / 1000}
end

local FRAMES_MAX = 32 -- innermost frames of a sample

-- Returns the innermost frames of a stack, innermost first, and how many others it has.
local function innermost(frames)
  local names = {}
  for i = #frames, math.max(#frames - FRAMES_MAX + 1, 1), -1 do names[#names + 1] = stacks.folded_name(frames[i]) end
  return names, #frames - #names
end

-- The name of a sample is its innermost function, of a wait the one that waits.
local function put_sample(put, pid, tid, sample, first)
  local frames = sample.stack.frames
  local names, n_more = innermost(frames)
  local own = frames[stacks.n_to_wait(frames)]
  put {ph = "i", s = "t", cat = "sample", name = own and stacks.folded_name(own) or "[no stack]", pid = pid, tid = tid,
       ts = (sample.begin - first) / 1000,
       args = {reason = sample.reason, ns = sample.ns > 0 and sample.ns or nil, stack = #names > 0 and names or nil,
               more = n_more > 0 and n_more or nil}}
end

function timetrace.chrome(lanes, opts)
  local put, id = array(), 0
  io.write('{"displayTimeUnit":"ns","traceEvents":[\n')
  for _, lane in ipairs(lanes) do
    local pid = lane.pid or lane.tid
    put {ph = "M", name = "thread_name", pid = pid, tid = lane.tid, args = {name = lane.thread or "?"}}
    put {ph = "M", name = "process_name", pid = pid, tid = lane.tid, args = {name = lane.process or "?"}}
    for i, begin in ipairs(lane.begins) do
      put {ph = "X", name = lane.kinds[i], cat = "slice", pid = pid, tid = lane.tid, ts = (begin - opts.first) / 1000,
           dur = lane.lengths[i] / 1000, args = {what = lane.texts[i]}}
    end
    for _, sample in ipairs(lane.samples) do put_sample(put, pid, lane.tid, sample, opts.first) end
    for _, span in ipairs(lane.spans) do
      id = id + 1
      put_span(put, pid, lane.tid, id, span, opts.first)
    end
  end
  io.write("\n]}\n")
end

-- ---- Firefox ----

-- Categories of markers and frames, with colours of that viewer, and what each kind of slice belongs to.
local categories = {{"Other", "grey"}, {"Running", "green"}, {"Runnable", "orange"}, {"Blocked", "blue"},
                    {"Waits for a lock", "red"}, {"Request", "purple"}}
local category_of = {running = 1, runnable = 2, lock = 4, sleep = 0, unknown = 0}
local category_of_sample = {cpu = 1, off_cpu = 3}

local GECKO_VERSION = 31 -- of the format; the viewer upgrades older ones

local function meta(opts)
  local list = {}
  for i, c in ipairs(categories) do list[i] = {name = c[1], color = c[2], subcategories = {"Other"}} end
  local function schema(name)
    return {name = name, display = {"marker-chart", "marker-table", "timeline-overview"}, chartLabel = "{marker.name}",
            tableLabel = "{marker.data.what}", tooltipLabel = "{marker.name}",
            data = {{key = "what", label = "What", format = "string", searchable = true}}}
  end
  return {version = GECKO_VERSION, startTime = opts.first / 1e6, shutdownTime = (opts.last - opts.first) / 1e6,
          interval = (opts.interval or 1e6) / 1e6, stackwalk = opts.n_samples > 0 and 1 or 0, debug = 0,
          gcpoison = 0, asyncstack = 0, processType = 0, product = "saker", platform = "Linux", oscpu = "Linux",
          misc = "", abi = "", toolkit = "", categories = list,
          markerSchema = {schema "slice", schema "request"}}
end

local SAMPLES = '"samples":{"schema":{"stack":0,"time":1,"eventDelay":2},"data":['
local FRAMES = '"frameTable":{"schema":{"location":0,"relevantForJS":1,"innerWindowID":2,"implementation":3,"line":4,'
  .. '"column":5,"category":6,"subcategory":7},"data":['
local STACKS = '"stackTable":{"schema":{"prefix":0,"frame":1},"data":['

-- Returns a function that returns the number of a text, and the list of the numbered texts.
local function string_table()
  local list, number = {}, {}
  return function(text)
    if not number[text] then
      number[text] = #list
      list[#list + 1] = text
    end
    return number[text]
  end, list
end

-- Returns category, location and line of a frame, as one text. The viewer splits "NAME (in LIBRARY)" and, of
-- interpreters, "NAME (FILE:LINE)", the line where the function begins.
local function frame_text(frame, category)
  local location, line = frame.name, ""
  if frame.kind == "s" and frame.module ~= "" then
    location = ("%s (%s:%s)"):format(frame.name, frame.module, frame.offset:match("^[1-9]%d*$") or 1)
    line = frame.line or ""
  elseif frame.module_name and frame.func ~= "" then
    location = ("%s (in %s)"):format(frame.name, frame.module_name)
  end
  return ("%d\t%s\t%s"):format(category, line, location)
end

local function put_frame(text, number)
  local category, line, location = text:match("^(%d+)\t(%d*)\t(.*)$")
  io.write(("[%d,false,null,null,%s,null,%s,0]"):format(number(location), line ~= "" and line or "null", category))
end

-- Writes a separator before each element but the first.
local function separate(i)
  if i > 1 then io.write(",\n") end
end

-- Writes the samples of a lane with their tables.
local function put_samples(lane, first, number)
  local tree = stacktree(frame_text)
  io.write(SAMPLES)
  for i, sample in ipairs(lane.samples) do
    local stack = tree.number(sample.stack.frames, category_of_sample[sample.reason] or 0)
    separate(i)
    io.write(("[%s,%.6f,0]"):format(stack or "null", (sample.begin - first) / 1e6))
  end
  io.write("]},\n", FRAMES)
  for i, text in ipairs(tree.texts) do
    separate(i)
    put_frame(text, number)
  end
  io.write("]},\n", STACKS)
  for i, frame in ipairs(tree.frames) do
    separate(i)
    io.write(("[%s,%d]"):format(tree.parents[i] >= 0 and tree.parents[i] or "null", frame))
  end
  io.write("]}")
end

local MARKERS = '"markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5},"data":['
local INTERVAL = 1 -- the phase of a marker with both ends

-- Writes the markers of a lane in order of time.
local function put_markers(lane, first, number)
  local put, span_at = array(), 1
  local function marker(name, begin, ns, category, kind, what)
    put {number(name), (begin - first) / 1e6, (begin + ns - first) / 1e6, INTERVAL, category, {type = kind, what = what}}
  end
  local function put_spans(before)
    while lane.spans[span_at] and lane.spans[span_at].begin < before do
      local span = lane.spans[span_at]
      marker(span.name, span.begin, span.ns, 5, "request", span.text)
      span_at = span_at + 1
    end
  end
  table.sort(lane.spans, function(a, b) return a.begin < b.begin end)
  for i, begin in ipairs(lane.begins) do
    put_spans(begin)
    marker(lane.kinds[i], begin, lane.lengths[i], category_of[lane.kinds[i]] or 3, "slice", lane.texts[i])
  end
  put_spans(math.huge)
end

function timetrace.firefox(lanes, opts)
  io.write('{"meta":', chisel.json(meta(opts)), ',"libs":[],"pausedRanges":[],"processes":[],"threads":[')
  for i, lane in ipairs(lanes) do
    local number, strings = string_table()
    io.write(i > 1 and ",\n" or "\n", '{"processType":"default","registerTime":0,"unregisterTime":null')
    io.write((',"pid":%d,"tid":%d,"name":'):format(lane.pid or lane.tid, lane.tid), chisel.json(lane.thread or "?"))
    io.write(',"processName":', chisel.json(lane.process or "?"), ",")
    put_samples(lane, opts.first, number)
    io.write(",", MARKERS)
    put_markers(lane, opts.first, number)
    io.write(']},"stringTable":[')
    local put = array()
    for _, text in ipairs(strings) do put(text) end
    io.write("]}")
  end
  io.write("\n]}\n")
end

return timetrace
