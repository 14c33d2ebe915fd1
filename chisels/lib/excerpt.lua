-- SPDX-License-Identifier: Apache-2.0
-- Saves to a file what threads did around events: require "excerpt". The file is written by a second run,
-- which reads the capture again: so the first one has to read a capture file.
local report = require "report"
local excerpt = {}

excerpt.args = {
  {name = "dump_file_name", optional = true,
   description = "capture file to write: what the same threads did around each line; needs -r"},
  {name = "dump_range_ms", argtype = "int", default = 1000, check = report.whole(1),
   description = "milliseconds to save before and after each line (1000)"},
}

local arg, tid, time
local spans, n_noted = {}, 0 -- by thread: sorted lists of {from, to}, which do not overlap

local function refuse(sentence)
  io.stderr:write(sentence, "\n")
  return false
end

function excerpt.init(values)
  arg = values
  if not arg.dump_file_name then return true end
  if arg.dump_file_name:find("^%l+%.[%w_.]+%s*[=<>!]") then
    return refuse(("the argument before the filter is the name of a file to write: %s is a filter"):format(arg.dump_file_name))
  end
  if sysdig.is_live() then
    return refuse("cannot save events of a live capture: record a file with -w, then use -r")
  end
  if sysdig.get_evtsource_name() == "-" then
    return refuse("cannot save events from standard input: the capture is read twice; use a file with -r")
  end
  if (sysdig.get_evtsource_name() .. arg.dump_file_name):find(" ") then
    return refuse("cannot save events: the name of the capture has a space; use a link to it")
  end
  tid, time = chisel.request_field("thread.tid"), chisel.request_field("evt.rawtime")
  return true
end

-- Adds the time around the current event.
function excerpt.note()
  if not arg.dump_file_name then return end
  local id, now, range = evt.field(tid), evt.field(time), arg.dump_range_ms * 1000000
  if not id then return end
  local of = spans[id] or {}
  spans[id], n_noted = of, n_noted + 1
  local last = of[#of]
  if last and last[2] >= now - range then
    last[2] = now + range
  else
    of[#of + 1] = {now - range, now + range}
  end
end

local function filter()
  local ids, parts = {}, {}
  for id in pairs(spans) do ids[#ids + 1] = id end
  table.sort(ids)
  for _, id in ipairs(ids) do
    local times = {}
    for i, span in ipairs(spans[id]) do
      times[i] = ("(evt.rawtime>=%d and evt.rawtime<=%d)"):format(span[1], span[2])
    end
    parts[#parts + 1] = ("(thread.tid=%d and (%s))"):format(id, table.concat(times, " or "))
  end
  return table.concat(parts, " or ")
end

function excerpt.save()
  if not arg.dump_file_name then return end
  if not report.is_json() then
    print(n_noted == 0 and "no matching events: no file is written"
      or ("Saving what was around %d events to %s"):format(n_noted, arg.dump_file_name))
  end
  if n_noted == 0 then return end
  sysdig.run_app(("-r %s -w %s %s"):format(sysdig.get_evtsource_name(), arg.dump_file_name, filter()))
end

return excerpt
