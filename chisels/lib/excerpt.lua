-- SPDX-License-Identifier: Apache-2.0
-- Saves to a file what threads did around events: require "excerpt". The run that writes it comes
-- after this one and reads the same capture again, so there has to be one.
local report = require "report"
local excerpt = {}

excerpt.args = {
  {name = "dump_file_name", optional = true,
   description = "capture file to write: what the same threads did around each line; needs -r"},
  {name = "dump_range_ms", argtype = "int", default = 1000, check = report.whole(1),
   description = "milliseconds to save before and after each line (1000)"},
}

local arg, tid, time
local spans, n_noted = {}, 0 -- by thread: lists of {from, to}, in order, that do not touch

local function refuse(sentence)
  io.stderr:write(sentence, "\n")
  return false
end

function excerpt.init(values)
  arg = values
  if not arg.dump_file_name then return true end
  if sysdig.is_live() then
    return refuse("dump_file_name: events are saved from a capture file: record one with -w, then use -r")
  end
  if sysdig.get_evtsource_name() == "-" then
    return refuse("dump_file_name: the capture is read a second time: give a file to -r instead of -")
  end
  if (sysdig.get_evtsource_name() .. arg.dump_file_name):find(" ") then
    return refuse("dump_file_name: names of captures with a space in them cannot be passed on: use a link")
  end
  tid, time = chisel.request_field("thread.tid"), chisel.request_field("evt.rawtime")
  return true
end

-- What is around the current event.
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
    print(n_noted == 0 and "Nothing was found: no file is written"
      or ("Saving what was around %d events to %s"):format(n_noted, arg.dump_file_name))
  end
  if n_noted == 0 then return end
  sysdig.run_app(("-r %s -w %s %s"):format(sysdig.get_evtsource_name(), arg.dump_file_name, filter()))
end

return excerpt
