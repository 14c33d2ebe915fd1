-- SPDX-License-Identifier: Apache-2.0
description = "Prints sampled stacks in the format of perf script: for each sample a line with process, thread, CPU, time, nanoseconds and event, and below it a line for each frame. Firefox Profiler, speedscope, FlameScope and stackcollapse-perf.pl read this format. Needs a capture with samples: saker profile -w FILE, or saker --sample 99 -w FILE."
short_description = "Print samples with their stacks as perf script does"
category = "Performance"

local report = require "report"
local stacks = require "stacks"

local arg = report.args {}
local fields, n = {}, 0

function on_init()
  chisel.set_filter("evt.type=sample")
  fields = report.fields {
    text = "stack.text.inlined", weight = "sample.weight", tid = "thread.tid", comm = "sample.comm",
    name = "proc.name", pid = "sample.pid", reason = "sample.reason",
  }
  return true
end

local events = {cpu = "cpu-clock", off_cpu = "off-cpu", page_fault = "page-faults"}

function on_event()
  n = n + 1
  local s, ns = evt.get_ts()
  local weight, reason = evt.field(fields.weight) or 0, evt.field(fields.reason) or "cpu"
  local comm = evt.field(fields.comm) or "?"
  if not report.is_json() then comm = report.line(comm) end
  if report.is_json() then
    report.print_json {process = evt.field(fields.name) or comm, thread = comm, pid = evt.field(fields.pid), tid = evt.field(fields.tid),
                       cpu = evt.get_cpuid(), time = s + ns / 1e9, ns = weight, reason = reason,
                       stack = evt.field(fields.text)}
    return
  end
  print(("%s %d/%d [%03d] %d.%09d: %d %s:\n%s"):format(
    comm, evt.field(fields.pid) or 0, evt.field(fields.tid) or 0, evt.get_cpuid(), s, ns,
    weight > 0 and weight or 1, events[reason] or reason, evt.field(fields.text) or ""))
end

function on_capture_end()
  if n == 0 then stacks.log_none() end
end
