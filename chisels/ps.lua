-- SPDX-License-Identifier: Apache-2.0
description = "Lists processes at the beginning of the capture. With a filter on the command line, it lists those at the first event that matches: saker -r in.scap -c ps evt.num=1000"
short_description = "List processes"
category = "System State"

local snapshot = require "snapshot"
local report = require "report"

-- Returns a short start time: the time of day if it is less than a day ago, else the date.
local function started(ns)
  if ns <= 0 then return nil end
  local s = ns // 1000000000
  if not report.redraws() then return os.date("%b %d %H:%M:%S", s) end
  return os.date(os.time() - s < 86400 and "%H:%M:%S" or "%b %d", s)
end

-- Kernel threads have no command line.
local function command(thread)
  if thread.exe == "" then return "[" .. thread.comm .. "]" end
  return report.trim(report.line(table.concat({thread.exe, table.unpack(thread.args)}, " ")))
end

local function kilobytes(n) return n and n > 0 and n * 1024 or nil end

snapshot.chisel {
  nothing = "no processes",
  cuts = true,
  columns = {
    {"PID", name = "proc.pid", kind = "number", of = function(e) return e.thread.pid end},
    {"PPID", name = "proc.ppid", kind = "number", of = function(e) return e.thread.ptid end},
    {"USER", name = "user.name", of = function(e) return e.thread.username end},
    {"THREADS", name = "proc.nthreads", kind = "number", of = function(e) return e.n_threads end},
    {"VIRT", name = "virt", kind = "bytes", of = function(e) return kilobytes(e.thread.vmsize_kb) end},
    {"RES", name = "res", kind = "bytes", of = function(e) return kilobytes(e.thread.vmrss_kb) end},
    {"STARTED", name = "started", of = function(e) return started(e.thread.clone_ts) end},
    {"NAME", name = "proc.name", most = 15, of = function(e) return e.thread.comm end},
    {"COMMAND", name = "command", of = function(e) return command(e.thread) end},
  },
  entries = function(filter)
    local n_threads, entries, listed = {}, {}, {}
    local all = sysdig.get_thread_table_barebone_nofds()
    for _, thread in pairs(all) do
      n_threads[thread.pid] = (n_threads[thread.pid] or 0) + 1
    end
    for tid, thread in pairs(sysdig.get_thread_table_nofds(filter)) do
      -- If the main thread is not in the capture, another thread represents the process.
      if tid == thread.pid or not (all[thread.pid] or listed[thread.pid]) then
        listed[thread.pid] = true
        entries[#entries + 1] = {thread = thread, n_threads = n_threads[thread.pid]}
      end
    end
    return entries
  end,
}
