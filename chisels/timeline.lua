-- SPDX-License-Identifier: Apache-2.0
description = "Draws what threads did: a page with a lane for each thread, in which coloured slices show when it ran, waited for a CPU, or waited for a file, a connection, a lock, ...; below them the samples of its stack, and the requests (HTTP, Redis, ...) that it sent or answered. The wheel zooms, dragging moves, a click shows what is known about a slice, a sample or a request. The page needs no network. With format=chrome: a trace that ui.perfetto.dev and chrome://tracing open; with format=firefox: a profile for profiler.firefox.com. Redirect the output to a file. A capture file needs switches and wake-ups (record with --slices); samples are there if it was recorded with --sample, and with --sample-on off_cpu for waits."
short_description = "Draw what each thread did over time"
category = "Performance"

local report = require "report"
local stacks = require "stacks"
local timepage = require "timepage"
local timetrace = require "timetrace"

local arg = report.args {
  {name = "format", default = "html", check = report.one_of {"html", "chrome", "firefox"},
   description = "html: a page; chrome: a trace for Perfetto; firefox: a profile for profiler.firefox.com (html)"},
  {name = "title", default = "Time of threads", description = "title of the page"},
}

local SLICES_MAX, REQUESTS_MAX, SAMPLES_MAX, STACKS_MAX, LANES_MAX = 300000, 50000, 100000, 20000, 1000
local fields, of_request, of_sample, profile
local lanes, by_tid, n_slices, n_spans, n_samples, n_left_out = {}, {}, 0, 0, 0, 0
local first_ns, last_ns, interval_ns
local is_known = false -- any slice

function on_init()
  chisel.set_filter("evt.type in (slice, request, sample)")
  profile = stacks.new {own_filter = true, stacks_max = STACKS_MAX}
  fields = report.fields {
    tid = "thread.tid", pid = "proc.pid", thread = "thread.name", process = "proc.name",
    kind = "thread.slice.kind", begin = "thread.slice.start", ns = "thread.slice.ns", cpu = "thread.slice.cpu",
    call = "thread.slice.call", object = "thread.slice.object", waker = "thread.slice.waker.comm",
    waker_tid = "thread.slice.waker", owner = "thread.slice.owner.comm", owner_tid = "thread.slice.owner",
    behind = "thread.slice.behind.comm", behind_tid = "thread.slice.behind",
    open = "thread.slice.open",
  }
  of_request = report.fields {
    begin = "request.begin", latency = "request.latency", send = "request.send", side = "request.side",
    proto = "request.proto", method = "request.method", resource = "request.resource", status = "request.status",
    error = "request.error", peer = "request.peer", peer_proc = "request.peer_proc", conn = "request.conn",
    failed = "request.failed", trace = "request.trace_id",
  }
  of_sample = report.fields {
    reason = "sample.reason", weight = "sample.weight", time = "evt.rawtime", pid = "sample.pid", comm = "sample.comm",
  }
  return true
end

local function lane_of(tid)
  local lane = by_tid[tid]
  if not lane and #lanes < LANES_MAX then
    lane = {tid = tid, pid = evt.field(fields.pid) or evt.field(of_sample.pid), begins = {}, lengths = {}, kinds = {},
            texts = {}, spans = {}, samples = {}}
    by_tid[tid], lanes[#lanes + 1] = lane, lane
  end
  return lane
end

local function who(comm, tid)
  if not tid then return nil end
  return tid == 0 and comm or ("%s (%d)"):format(comm or "?", tid)
end

-- Returns what is known about the slice, besides kind and time.
local function describe()
  local field, parts = evt.field, {}
  local function add(format, value) if value then parts[#parts + 1] = format:format(value) end end
  add("in %s", field(fields.call))
  add("on %s", field(fields.object))
  add("CPU %d", field(fields.cpu))
  add("behind %s", who(field(fields.behind), field(fields.behind_tid)))
  local woken = (field(fields.waker_tid) or 0) ~= 0
  add("held by %s ?", not woken and field(fields.owner_tid) and who(field(fields.owner), field(fields.owner_tid)))
  add("woken by %s", who(field(fields.waker), field(fields.waker_tid)))
  if field(fields.open) then parts[#parts + 1] = "goes on" end
  return table.concat(parts, ", ")
end

local function name_of(lane)
  lane.thread, lane.process = evt.field(fields.thread) or lane.thread, evt.field(fields.process) or lane.process
end

local function note_time(begin, ns)
  first_ns, last_ns = math.min(first_ns or begin, begin), math.max(last_ns or 0, begin + ns)
end

local function on_slice(lane, begin)
  local ns, kind, i = evt.field(fields.ns), evt.field(fields.kind), #lane.begins + 1
  n_slices = n_slices + 1
  is_known = is_known or kind ~= "unknown"
  name_of(lane)
  lane.begins[i], lane.lengths[i], lane.kinds[i], lane.texts[i] = begin, ns, kind, describe()
  note_time(begin, ns)
end

local function describe_request(side)
  local field, parts = evt.field, {side}
  local function add(format, value) if value then parts[#parts + 1] = format:format(report.line(tostring(value))) end end
  add(side == "server" and "from %s" or "to %s", field(of_request.peer_proc))
  add("%s", field(of_request.conn))
  add("status %s", field(of_request.status))
  add("error %s", field(of_request.error))
  add("trace %s", field(of_request.trace))
  return table.concat(parts, ", ")
end

local function on_request(lane, begin)
  local field = evt.field
  local ns, side = field(of_request.latency) or field(of_request.send), field(of_request.side)
  local method, resource = field(of_request.method), field(of_request.resource)
  local name = method and resource and method .. " " .. resource or method or resource or field(of_request.proto)
  n_spans = n_spans + 1
  name_of(lane)
  lane.spans[#lane.spans + 1] = {begin = begin, ns = ns, side = side, failed = field(of_request.failed),
                                 name = report.line(name), text = describe_request(side)}
  note_time(begin, ns)
end

-- A sample of a thread off the CPU stands for its wait, which has ended; its stack is that of the begin of the wait.
local function on_sample(lane, reason)
  local at, weight = evt.field(of_sample.time), evt.field(of_sample.weight) or 0
  local ns = reason == "off_cpu" and weight or 0
  n_samples = n_samples + 1
  name_of(lane)
  lane.thread = lane.thread or evt.field(of_sample.comm)
  lane.samples[#lane.samples + 1] = {begin = at - ns, ns = ns, reason = reason, stack = profile:add()}
  if reason == "cpu" then interval_ns = interval_ns or weight end
  note_time(at - ns, ns)
end

function on_event()
  local tid, begin, request = evt.field(fields.tid), evt.field(fields.begin), evt.field(of_request.begin)
  local lane = tid and lane_of(tid)
  if lane and begin and n_slices < SLICES_MAX then
    on_slice(lane, begin)
  elseif lane and request and n_spans < REQUESTS_MAX then
    on_request(lane, request)
  elseif lane and n_samples < SAMPLES_MAX and evt.field(of_sample.reason) then
    on_sample(lane, evt.field(of_sample.reason))
  else
    n_left_out = n_left_out + 1
  end
end

-- Lanes of a process follow each other, its main thread first.
local function sort_lanes()
  table.sort(lanes, function(a, b)
    local x, y = a.pid or a.tid, b.pid or b.tid
    if x ~= y then return x < y end
    return a.tid < b.tid
  end)
end

-- Sorts the samples by their begin, and makes the frames of their stacks accessible.
local function finish_samples()
  profile:list()
  for _, lane in ipairs(lanes) do
    for i, sample in ipairs(lane.samples) do sample.at = i end
    table.sort(lane.samples, function(a, b)
      if a.begin ~= b.begin then return a.begin < b.begin end
      return a.at < b.at
    end)
  end
end

local LEFT_OUT = "%d slices, requests and samples are not drawn: the picture has at most %d slices, %d requests and %d "
  .. "samples, of %d threads"

local function log_losses()
  if n_left_out > 0 then
    sysdig.log(LEFT_OUT:format(n_left_out, SLICES_MAX, REQUESTS_MAX, SAMPLES_MAX, LANES_MAX), "warning")
  end
  if profile.n_other > 0 then
    sysdig.log(("%d samples are drawn without their stack: at most %d different stacks are kept")
               :format(profile.n_other, STACKS_MAX), "warning")
  end
  if not is_known then
    sysdig.log((n_slices > 0 and "all slices are unknown" or "no slices")
               .. ": a capture file needs switches and wake-ups (record with --slices)", "warning")
  end
end

function on_capture_end()
  log_losses()
  if n_slices + n_spans + n_samples == 0 then return end
  sort_lanes()
  finish_samples()
  local opts = {title = arg.title, first = first_ns, last = last_ns, n = n_slices, n_spans = n_spans, n_samples = n_samples,
                interval = interval_ns}
  if arg.format == "chrome" then return timetrace.chrome(lanes, opts) end
  if arg.format == "firefox" then return timetrace.firefox(lanes, opts) end
  timepage.draw(lanes, opts)
end
