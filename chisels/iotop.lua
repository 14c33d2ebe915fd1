-- SPDX-License-Identifier: Apache-2.0
description = "Shows the processes with the most file I/O, and how much of it had to wait. CACHED is bytes that were read from the page cache, without leaving the CPU. WAITED is the time of reads and writes in which the thread was off the CPU, mostly for a disk. MAJFLT is page faults that had to read from a disk, of mapped files or swapped memory; MINFLT is other page faults. A capture file needs switch events (record with --switches)."
short_description = "Top processes by file I/O, page cache and waiting"
category = "I/O"

local report = require "report"
local bounded = require "bounded"

local field = evt.field
local fields = {read = "evt.io.read_bytes", written = "evt.io.write_bytes", latency = "evt.latency", time = "evt.rawtime",
                tid = "thread.tid", major = "thread.pfmajor", minor = "thread.pfminor"}
local left = bounded(100000) -- by thread: the time and the number of faults when it last left a CPU
local n_switches = 0
local now = {} -- the values of the event
local counted -- the last call whose wait was counted

-- Counts the faults since the thread left a CPU the time before. Earlier ones can be from before the capture.
local function switched(tid)
  local major, minor, before = field(fields.major), field(fields.minor), left:get(tid)
  n_switches = n_switches + 1
  if before and major and minor then now.major, now.minor = major - before.major, minor - before.minor end
  left:put(tid, {time = field(fields.time), major = major or 0, minor = minor or 0})
end

local function transferred(tid)
  local read, written, latency = field(fields.read), field(fields.written), field(fields.latency)
  local before = left:get(tid)
  local waited = latency and before and before.time >= field(fields.time) - latency
  now.bytes, now.read, now.written = read or written, read, written
  if not waited then now.cached = read end
  -- A copy from file to file is counted at either end, but its wait only once.
  local number = evt.get_num()
  if waited and number ~= counted then now.waited = latency end
  counted = number
end

local function value(title, name, key, kind, known)
  return {title, name = name, kind = kind, known = known, of = function() return now[key] end}
end

local function has_switches() return n_switches > 0 end

require "toplist" {
  filter = "(fd.type=file and evt.io.bytes exists) or (evt.type=switch and thread.tid!=0)",
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
    chisel.each_end()
    fields = report.fields(fields)
  end,
  event = function()
    local tid = field(fields.tid)
    now = {}
    if evt.get_type() == "switch" then switched(tid) else transferred(tid) end
    return true
  end,
  note = function()
    if not has_switches() then
      return "waits are unknown: the capture has no switch events; record them with --switches"
    end
  end,
}
