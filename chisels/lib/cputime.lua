-- SPDX-License-Identifier: Apache-2.0
-- What topprocs_cpu and topcontainers_cpu have in common: require "cputime"(SPEC), a SPEC of toplist
-- without values, and with `key_of(thread)`, the key values of one of sysdig.get_running().
--
-- Time on CPUs, as a thread's switches and its end tell it. What threads that are on a CPU when a table
-- is made have run since is counted ahead, and taken from what their next event tells: so one that never
-- leaves its CPU counts as well.
return function(spec)
  local ran, count, tid, kind
  local seen = {} -- CPUs of which there was a switch
  local ahead = {} -- by thread: what is counted that no event has told yet
  local last -- what the thread of the event ran, and was not counted yet
  local n_switches, n_missing = 0, 0

  spec.filter = "evt.type in (switch, procexit) and thread.tid!=0"
  spec.values = {
    {"CPU%", name = "cpu_percent", share = true, of = function() return last end},
    {"TIME", name = "cpu_ns", kind = "time", of = function() return last end},
  }

  function spec.init()
    ran, count = chisel.request_field("thread.exectime"), chisel.request_field("evt.rawarg.ran")
    tid, kind = chisel.request_field("thread.tid"), chisel.request_field("evt.type")
  end

  local get_cpu, field = evt.get_cpuid, evt.field

  local function take_ahead(ns, is_end)
    local id = field(tid)
    local before = ahead[id] or 0
    ahead[id] = before > ns and not is_end and before - ns or nil
    return math.max(ns - before, 0)
  end

  -- Captures of sysdig say 0 of what is not known. Nothing tells how long the first one of a CPU ran.
  local function note_switch(ns)
    local cpu = get_cpu()
    n_switches = n_switches + 1
    if seen[cpu] and (not ns or ns == 0 and not field(count)) then n_missing = n_missing + 1 end
    seen[cpu] = true
  end

  function spec.event()
    local ns, is_switch = field(ran), field(kind) == "switch"
    if is_switch then note_switch(ns) end
    if n_switches == 0 then return false end
    last = ns or 0
    if next(ahead) then last = take_ahead(last, not is_switch) end
    return true
  end

  function spec.settle(add)
    for _, thread in ipairs(sysdig.get_running(sysdig.get_filter())) do
      local ns, key = thread.ran - (ahead[thread.tid] or 0), spec.key_of(thread)
      if ns > 0 then
        add(key, 1, ns)
        add(key, 2, ns)
        ahead[thread.tid] = thread.ran
      end
    end
  end

  -- Of a capture: what its table leaves out.
  function spec.note()
    if n_switches == 0 then
      return "nothing tells how long threads ran: the capture has no switch events, which --switches records"
    elseif n_missing > 0 then
      return ("%d of %d turns of threads on CPUs are left out: the capture has not the switches they "
              .. "began with, which were lost or not asked for (in a capture of one program, "
              .. "--switches --all records those of all threads)"):format(n_missing, n_switches)
    end
  end

  require "toplist"(spec)
end
