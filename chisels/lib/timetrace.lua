-- SPDX-License-Identifier: Apache-2.0
-- Writes lanes of slices and requests for other viewers: require "timetrace". Chrome's trace format is what
-- Perfetto opens; Firefox's profiler opens a Gecko profile, of which a lane is a thread with markers.
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
    for _, span in ipairs(lane.spans) do
      id = id + 1
      put_span(put, pid, lane.tid, id, span, opts.first)
    end
  end
  io.write("\n]}\n")
end

-- ---- Firefox ----

-- Categories of markers, with colours of that viewer, and what each kind of slice belongs to.
local categories = {{"Other", "grey"}, {"Running", "green"}, {"Runnable", "orange"}, {"Blocked", "blue"},
                    {"Waits for a lock", "red"}, {"Request", "purple"}}
local category_of = {running = 1, runnable = 2, lock = 4, sleep = 0, unknown = 0}

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
          interval = 1, stackwalk = 0, debug = 0, gcpoison = 0, asyncstack = 0, processType = 0, product = "saker",
          platform = "Linux", oscpu = "Linux", misc = "", abi = "", toolkit = "", categories = list,
          markerSchema = {schema "slice", schema "request"}}
end

-- The tables of a thread without samples.
local TABLES = [["samples":{"schema":{"stack":0,"time":1,"eventDelay":2},"data":[]},
"frameTable":{"schema":{"location":0,"relevantForJS":1,"innerWindowID":2,"implementation":3,"line":4,"column":5,"category":6,"subcategory":7},"data":[]},
"stackTable":{"schema":{"prefix":0,"frame":1},"data":[]}]]

local MARKERS = '"markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5},"data":['
local INTERVAL = 1 -- the phase of a marker with both ends

-- Writes the markers of a lane in order of time. Returns the texts that they use.
local function put_markers(lane, first)
  local strings, number, put, span_at = {}, {}, array(), 1
  local function marker(name, begin, ns, category, kind, what)
    if not number[name] then
      number[name] = #strings
      strings[#strings + 1] = name
    end
    put {number[name], (begin - first) / 1e6, (begin + ns - first) / 1e6, INTERVAL, category, {type = kind, what = what}}
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
  return strings
end

function timetrace.firefox(lanes, opts)
  io.write('{"meta":', chisel.json(meta(opts)), ',"libs":[],"pausedRanges":[],"processes":[],"threads":[')
  for i, lane in ipairs(lanes) do
    io.write(i > 1 and ",\n" or "\n", '{"processType":"default","registerTime":0,"unregisterTime":null')
    io.write((',"pid":%d,"tid":%d,"name":'):format(lane.pid or lane.tid, lane.tid), chisel.json(lane.thread or "?"))
    io.write(',"processName":', chisel.json(lane.process or "?"), ",", TABLES, ",", MARKERS)
    local strings = put_markers(lane, opts.first)
    io.write(']},"stringTable":[')
    local put = array()
    for _, text in ipairs(strings) do put(text) end
    io.write("]}")
  end
  io.write("\n]}\n")
end

return timetrace
