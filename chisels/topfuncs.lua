-- SPDX-License-Identifier: Apache-2.0
description = "Shows the functions that take the most time in sampled stacks, on the CPU or off it. SELF is the time of the function itself, including waits in syscalls; TOTAL includes the functions that it calls. A recursive function counts once per sample. LINE is the source line with most of its time. (inlined) marks a function that the compiler inlined into its callers. Needs a capture with samples: saker profile -w FILE, or saker --sample 99 -w FILE."
short_description = "Show the functions that take the most time"
category = "Performance"

local report = require "report"
local stacks = require "stacks"

local arg = report.args {
  {name = "top", default = 20, argtype = "int", check = report.whole(1), description = "rows in the table (20)"},
  {name = "sort", default = "self", description = "sort by self or total (self)",
   check = function(text)
     return (text == "self" or text == "total") and text or nil, "self or total is needed"
   end},
  {name = "of", default = "all", check = report.one_of {"all", "running"},
   description = "all samples; or running: without those of threads off the CPU (all)"},
  {name = "native", default = "own", check = report.one_of {"own", "callers"},
   description = "native functions that a function of an interpreter calls: with their own time; or callers: their time is its own (own)"},
}

local function sorted_rows(profile)
  local list = profile:functions {key = stacks.function_key, native_in_callers = arg.native == "callers"}
  table.sort(list, function(a, b)
    if a[arg.sort] ~= b[arg.sort] then return a[arg.sort] > b[arg.sort] end
    if a.total ~= b.total then return a.total > b.total end
    return a.key < b.key
  end)
  return list
end

local function columns_of(profile)
  local kind = profile:is_time() and "time" or "number"
  return {
    {title = "SELF%", name = "self_percent", kind = "percent"},
    {title = "SELF", name = "self", kind = kind},
    {title = "TOTAL%", name = "total_percent", kind = "percent"},
    {title = "TOTAL", name = "total", kind = kind, extra = true},
    {title = "FUNCTION", name = "function", fits = true},
    {title = "MODULE", name = "module"},
  }
end

local function name_of(row)
  return row.frame.name .. (row.is_inlined and not report.is_json() and " (inlined)" or "")
end

-- Shows source lines if there are any, without folders.
local function put(profile)
  local columns, rows, all, has_lines = columns_of(profile), {}, profile:total(), report.is_json()
  for i, r in ipairs(sorted_rows(profile)) do
    if i > arg.top then break end
    local line = stacks.hottest_line(r)
    has_lines = has_lines or line ~= nil
    if line and not report.is_json() then line = report.source_name(line) end
    rows[i] = {100 * r.self / all, r.self, 100 * r.total / all, r.total, name_of(r), r.frame.module_name, line}
  end
  if has_lines then columns[7] = {title = "LINE", name = "line"} end
  report.put_once(columns, rows)
end

local function is_wanted(reason) return arg.of == "all" or reason ~= "off_cpu" end

stacks.view {source = true, put = put, put_json = put, wants = is_wanted}
