-- SPDX-License-Identifier: Apache-2.0
-- What topprocs_cpu and topcontainers_cpu have in common: require "cputime"(SPEC), a SPEC of toplist
-- without values, and with `key_of(thread)`, the key values of one of sysdig.get_running().
--
-- Time on CPUs, by the switches of all CPUs: a thread ran since the switch before on its CPU. Who is on a
-- CPU when a table is made is counted until then, and from there on when it leaves; so one that never
-- leaves counts as well. Live, who leaves a CPU at its first switch was there from the beginning.
return function(spec)
  local ran, time
  local first -- when counting began
  local counted = {} -- by CPU: the time until which its threads are counted
  local last -- what the thread of the event ran, and was not counted yet
  local n_switches, n_missing = 0, 0

  spec.filter = "evt.type=switch and thread.tid!=0"
  spec.values = {
    {"CPU%", name = "cpu_percent", share = true, of = function() return last end},
    {"TIME", name = "cpu_ns", kind = "time", of = function() return last end},
  }

  function spec.init()
    ran, time = chisel.request_field("thread.exectime"), chisel.request_field("evt.rawtime")
  end

  -- Since when the thread that leaves the CPU is to be counted.
  local function since(cpu, now, ns)
    local until_then = counted[cpu]
    if ns and ns > 0 then return math.max(now - ns, until_then or first) end
    if not until_then and sysdig.is_live() then return first end
    if until_then then n_missing = n_missing + 1 end
    return now
  end

  local get_cpu, field = evt.get_cpuid, evt.field
  function spec.event()
    local cpu, now = get_cpu(), field(time)
    first = first or tonumber(sysdig.get_firstevent_ts())
    last = now - since(cpu, now, field(ran))
    counted[cpu], n_switches = now, n_switches + 1
    return true
  end

  function spec.settle(add, now)
    if n_missing > 0 and not sysdig.is_live() then return end
    for _, thread in ipairs(sysdig.get_running(sysdig.get_filter())) do
      local ns, key = now - math.max(thread.since, counted[thread.cpu] or first or now), spec.key_of(thread)
      if ns > 0 then
        add(key, 1, ns)
        add(key, 2, ns)
        counted[thread.cpu] = now
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
