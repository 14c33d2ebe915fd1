-- SPDX-License-Identifier: Apache-2.0
description = "Processes by file I/O, and what of it had to wait. CACHED is what was read without leaving the CPU, from the page cache; WAITED is the time of reads and writes in which the thread was off the CPU, mostly for a disk. MAJFLT are page faults that had to read, of mapped files or swapped memory, MINFLT those that had not. A capture needs switch events for that (--switches)."
short_description = "Top processes by file I/O, page cache and waiting"
category = "I/O"

local field = evt.field
local fields = {result = "evt.rawres", latency = "evt.latency", is_read = "evt.is_io_read", time = "evt.rawtime",
                tid = "thread.tid", major = "thread.pfmajor", minor = "thread.pfminor"}
local bounded = require "bounded"
local left = bounded(100000) -- by thread: when it left a CPU last, and how many faults it had then
local n_switches = 0
local now = {} -- values of the event

-- Faults since the thread left a CPU before. Those of before the first time are not the capture's.
local function switched(tid)
  local major, minor, before = field(fields.major), field(fields.minor), left.get(tid)
  n_switches = n_switches + 1
  if before and major and minor then now.major, now.minor = major - before.major, minor - before.minor end
  left.put(tid, {time = field(fields.time), major = major or 0, minor = minor or 0})
end

local function transferred(tid)
  local bytes, latency, is_read = field(fields.result), field(fields.latency), field(fields.is_read)
  local before = left.get(tid)
  local waited = latency and before and before.time >= field(fields.time) - latency
  if bytes and bytes > 0 then
    now.bytes, now[is_read and "read" or "written"] = bytes, bytes
    if is_read and not waited then now.cached = bytes end
  end
  if waited then now.waited = latency end
end

local function value(title, name, key, kind, known)
  return {title, name = name, kind = kind, known = known, of = function() return now[key] end}
end

local function has_switches() return n_switches > 0 end

require "toplist" {
  filter = "(fd.type=file and evt.is_io=true and evt.dir=<) or (evt.type=switch and thread.tid!=0)",
  keys = {{"PID", "proc.pid"}, {"PROCESS", "proc.aname[0]", name = "proc.name"}},
  values = {
    value("BYTES", "bytes", "bytes", "bytes"),
    value("READ", "read", "read", "bytes"),
    value("CACHED", "cached", "cached", "bytes", has_switches),
    value("WRITTEN", "written", "written", "bytes"),
    value("WAITED", "waited_ns", "waited", "time"),
    value("MAJFLT", "major_faults", "major", nil, has_switches),
    value("MINFLT", "minor_faults", "minor", nil, has_switches),
  },
  init = function()
    for name, of in pairs(fields) do fields[name] = chisel.request_field(of) end
  end,
  event = function()
    local tid = field(fields.tid)
    now = {}
    if evt.get_type() == "switch" then switched(tid) else transferred(tid) end
    return true
  end,
  note = function()
    if not has_switches() then
      return "nothing tells who waited: the capture has no switch events, which --switches records"
    end
  end,
}
