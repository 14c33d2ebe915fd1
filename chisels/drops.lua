-- SPDX-License-Identifier: Apache-2.0
description = "Shows which events the capture itself lost. Each loss has a line: time, duration, CPU, number of events, reason, and how many of them change the state of processes and files (such as clone, exit and open). At the end are the sums by CPU and reason, and how far the rest of the capture is reliable. To find that out, the chisel records every syscall; with watch=others it records only what the other chisels of the run need. Pauses of --sampling are reported, too; events in a pause are not lost."
short_description = "Show which events were lost, and what is still reliable"
category = "Misc"

local report = require "report"

local arg = report.args {
  {name = "watch", default = "all", check = report.one_of {"all", "others"},
   description = "all: record every call; others: only what other chisels need (all)"},
  report.color_arg,
}

-- Kinds of events that change the state of processes and files: parameters of the event `lost`.
local KINDS = {"clone", "exec", "exit", "open", "close", "state"}

local fields, put = {}, nil
local sums, order = {}, {} -- by CPU and reason
local total, changes, n_calls, certain_from = 0, 0, 0, nil
local paused, pauses, pause_ns = nil, 0, 0
local records_losses = false -- files of other tools do not record losses

function on_init()
  fields = report.fields {
    type = "evt.type", dir = "evt.dir", time = "evt.rawtime", cpu = "evt.rawarg.cpu", n = "evt.rawarg.n",
    reason = "evt.arg.reason", from = "evt.rawarg.from", to = "evt.rawarg.to",
  }
  for _, kind in ipairs(KINDS) do fields[kind] = chisel.request_field("evt.rawarg." .. kind) end
  fields.number = chisel.request_field("syscall.nr")
  chisel.set_filter("evt.type in (lost, drop)" ..
                    (arg.watch == "all" and " or syscall.type exists and evt.dir=<" or ""))
  local columns = {
    {title = "TIME", name = "from", kind = "clock", width = 12},
    {title = "FOR", name = "duration", kind = "time", width = 8},
    {title = "CPU", name = "cpu", kind = "number", width = 3},
    {title = "LOST", name = "lost", kind = "number", width = 9},
    {title = "REASON", name = "reason", width = 24},
    {title = "AMONG THEM", name = "changes"},
  }
  for _, kind in ipairs(KINDS) do columns[#columns + 1] = {name = kind} end
  put = report.stream(columns)
  return true
end

local function on_loss()
  local cpu, n, reason = evt.field(fields.cpu), evt.field(fields.n), evt.field(fields.reason)
  local from, to = evt.field(fields.from), evt.field(fields.to)
  local kinds, row = {}, {from, to and from and to - from, cpu, n, reason, nil}
  for i, kind in ipairs(KINDS) do
    local count = evt.field(fields[kind]) or 0
    if count > 0 then kinds[#kinds + 1] = ("%d %s"):format(count, kind) end
    changes, row[6 + i] = changes + count, count
  end
  if #kinds > 0 then
    certain_from = math.max(certain_from or 0, to or 0)
    if not report.is_json() then row[6] = table.concat(kinds, ", ") end
  end
  total = total + (n or 0)
  local key = ("%d %s"):format(cpu or -1, reason or "-")
  if not sums[key] then
    sums[key] = {0, 0, cpu, reason}
    order[#order + 1] = sums[key]
  end
  sums[key][1], sums[key][2] = sums[key][1] + (n or 0), sums[key][2] + 1
  put(row, "red")
end

local function on_pause()
  local now = evt.field(fields.time)
  if evt.field(fields.dir) == ">" then
    paused, pauses = paused or now, pauses + 1
  elseif paused then
    pause_ns, paused = pause_ns + now - paused, nil
  end
end

function on_event()
  local kind = evt.field(fields.type)
  if kind == "lost" then
    on_loss()
  elseif kind == "drop" then
    on_pause()
  else
    n_calls = n_calls + 1
    records_losses = records_losses or evt.field(fields.number) ~= nil
  end
  return true
end

function on_capture_start()
  records_losses = sysdig.is_live()
  return true
end

-- Prints how far the rest of the capture is reliable.
local function verdict(now)
  local said = {}
  if total == 0 and not records_losses then
    said[1] = "this file does not record losses: another tool made it"
  elseif total == 0 then
    said[1] = "nothing was lost: the capture has every matching event"
  else
    said[1] = ("%d events were lost%s: sums and counts are too low by as much"):format(
      total, n_calls > 0 and (", %.1f %% of all"):format(total * 100 / (total + n_calls)) or "")
    said[2] = changes == 0 and "none of them changes the state of processes and files: names are right" or
      ("%d of them change the state of processes and files: names from before %s may be wrong " ..
       "until they are set again"):format(changes, report.clock(certain_from))
  end
  if pauses > 0 then
    if paused then pause_ns = pause_ns + now - paused end
    said[#said + 1] = ("recording paused %d times, for %s in all (--sampling): events in a pause are not " ..
                       "lost"):format(pauses, report.time(pause_ns))
  end
  return said
end

function on_capture_end(s, ns)
  table.sort(order, function(a, b)
    if a[1] ~= b[1] then return a[1] > b[1] end
    return (a[3] or -1) < (b[3] or -1)
  end)
  if report.is_json() then
    report.print_json({total = (total > 0 or records_losses) and total or nil, changes = changes,
                       calls = n_calls, pauses = pauses})
    return
  end
  if #order > 0 then
    print("")
    local columns = {{title = "LOST", kind = "number"}, {title = "TIMES", kind = "number"},
                     {title = "CPU", kind = "number"}, {title = "REASON"}}
    for _, line in ipairs(report.lines(columns, order, {})) do print(line) end
    print("")
  end
  for _, sentence in ipairs(verdict(s * 1000000000 + ns)) do print(sentence) end
end
