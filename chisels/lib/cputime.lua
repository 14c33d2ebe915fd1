-- SPDX-License-Identifier: Apache-2.0
-- Top lists of CPU time, for topprocs_cpu and topcontainers_cpu: require "cputime"(SPEC), which sets the
-- callbacks. SPEC is that of toplist without values, and has key_of(thread), which returns the key values
-- of a thread of sysdig.get_running().
--
-- A thread's switches and its exit have the time that it ran. For a thread that is on a CPU when a table
-- is made, the time since its last switch is counted in advance, and subtracted from that of its next
-- event: so a thread that never leaves its CPU counts as well.
local CpuTime = {}
CpuTime.__index = CpuTime

local get_cpu, field = evt.get_cpuid, evt.field

function CpuTime:init()
  self.ran, self.count = chisel.request_field("thread.exectime"), chisel.request_field("evt.rawarg.ran")
  self.tid, self.kind = chisel.request_field("thread.tid"), chisel.request_field("evt.type")
end

-- Returns the part of ns that was not counted in advance.
function CpuTime:subtract_advance(ns, is_end)
  local id = field(self.tid)
  local before = self.advance[id] or 0
  self.advance[id] = before > ns and not is_end and before - ns or nil
  return math.max(ns - before, 0)
end

-- Counts switches without a time. Captures of sysdig have 0 for an unknown time. The time before the
-- first switch of a CPU is always unknown.
function CpuTime:note_switch(ns)
  local cpu, seen = get_cpu(), self.seen
  self.n_switches = self.n_switches + 1
  if seen[cpu] and (not ns or ns == 0 and not field(self.count)) then self.n_missing = self.n_missing + 1 end
  seen[cpu] = true
end

function CpuTime:event()
  local ns, is_switch = field(self.ran), field(self.kind) == "switch"
  if is_switch then self:note_switch(ns) end
  if self.n_switches == 0 then return false end
  self.last = ns or 0
  if next(self.advance) then self.last = self:subtract_advance(self.last, not is_switch) end
  return true
end

function CpuTime:settle(add, key_of)
  local advance = self.advance
  for _, thread in ipairs(sysdig.get_running(sysdig.get_filter())) do
    local ns, key = thread.ran - (advance[thread.tid] or 0), key_of(thread)
    if ns > 0 then
      add(key, 1, ns)
      add(key, 2, ns)
      advance[thread.tid] = thread.ran
    end
  end
end

-- Returns a sentence about what the table of a capture file lacks, or nil.
function CpuTime:note()
  if self.n_switches == 0 then
    return "CPU time is unknown: the capture has no switch events; record them with --switches"
  elseif self.n_missing > 0 then
    return ("%d of %d periods on a CPU are left out: the switch events at their start were lost or not "
            .. "recorded (in a capture of one program, --switches --all records those of all threads)"):format(self.n_missing, self.n_switches)
  end
end

return function(spec)
  local time = setmetatable({
    seen = {},    -- CPUs that had a switch
    advance = {}, -- by thread: nanoseconds that were counted in advance
    last = nil,   -- nanoseconds that the thread of the event ran, less those
    n_switches = 0, n_missing = 0,
  }, CpuTime)

  spec.filter = "evt.type in (switch, procexit) and thread.tid!=0"
  spec.values = {
    {"CPU%", name = "cpu_percent", share = true, of = function() return time.last end},
    {"TIME", name = "cpu_ns", kind = "time", of = function() return time.last end},
  }
  function spec.init() time:init() end
  function spec.event() return time:event() end
  function spec.settle(add) time:settle(add, spec.key_of) end
  function spec.note() return time:note() end
  require "toplist"(spec)
end
