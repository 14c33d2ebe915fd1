-- SPDX-License-Identifier: Apache-2.0
description = "Functions by the time that samples found them on the CPU, or off it: SELF is the function itself, waiting in a system call included, TOTAL with what it called, whatever that was. A function that calls itself is counted once a sample. Needs a capture with samples: saker profile -w FILE, or saker --sample 99 -w FILE."
short_description = "Show the functions that take the most time"
category = "Performance"

local report = require "report"
local stacks = require "stacks"

local arg = report.args {
  {name = "top", default = 20, argtype = "int", check = report.whole(1), description = "So many rows"},
  {name = "sort", default = "self", description = "What decides the order: self or total",
   check = function(text)
     return (text == "self" or text == "total") and text or nil, "self or total is needed"
   end},
  {name = "of", default = "all", check = report.one_of {"all", "running"},
   description = "Of all samples, or running: only those that are not of threads off the CPU"},
}

local function sorted_rows(profile)
  local list = profile:functions()
  table.sort(list, function(a, b)
    if a[arg.sort] ~= b[arg.sort] then return a[arg.sort] > b[arg.sort] end
    if a.total ~= b.total then return a.total > b.total end
    return a.key < b.key
  end)
  return list
end

local function put(profile)
  local kind = profile:is_time() and "time" or "number"
  local columns = {
    {title = "SELF%", name = "self_percent", kind = "percent"},
    {title = "SELF", name = "self", kind = kind},
    {title = "TOTAL%", name = "total_percent", kind = "percent"},
    {title = "TOTAL", name = "total", kind = kind},
    {title = "FUNCTION", name = "function", fits = true},
    {title = "MODULE", name = "module"},
  }
  local rows, all = {}, profile:total()
  for i, r in ipairs(sorted_rows(profile)) do
    if i > arg.top then break end
    rows[i] = {100 * r.self / all, r.self, 100 * r.total / all, r.total, r.frame.name,
               r.frame.module_name}
  end
  report.put_once(columns, rows)
end

local function is_wanted(reason) return arg.of == "all" or reason ~= "off_cpu" end

stacks.view {put = put, put_json = put, wants = is_wanted}
