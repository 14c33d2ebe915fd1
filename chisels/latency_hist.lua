-- SPDX-License-Identifier: Apache-2.0
description = "Draws histograms of the latency of syscalls. Each line covers a range twice as wide as the line before. There is one histogram for each value of a field, by default evt.type; by=proc.name or by=fd.name selects another field. The histograms with the most time come first. Calls whose start was not captured are left out, and their number is shown. A filter selects the calls, as in 'evt.type=read and fd.type=file'."
short_description = "Histograms of the latency of syscalls"
category = "Performance"

local report = require "report"

local arg = report.args {
  {name = "by", default = "evt.type", check = report.field, description = "one histogram for each value of this field (evt.type)"},
  {name = "top", argtype = "int", default = 5, check = report.whole(1),
   description = "histograms, at most (5)"},
  {name = "interval", argtype = "int", default = 0, check = report.whole(0),
   description = "live: seconds per set of histograms; 0: one set for the whole capture (0)"},
}

local WIDEST_BAR = 50
-- With this many groups, the half with less time is merged into one.
local GROUPS_MAX = 10000

local latency, by
local groups, n_groups, unknown = {}, 0, 0
local other -- the merged groups; nil: none

function on_init()
  latency, by = chisel.request_field("evt.latency"), chisel.request_field(arg.by)
  chisel.set_filter("evt.dir=< and syscall.type exists")
  return true
end

-- Bucket 0 is 0 nanoseconds; bucket n is 2^(n-1) to 2^n - 1.
local function bucket_of(ns)
  local n = 0
  while ns >= 256 do ns, n = ns >> 8, n + 8 end
  while ns > 0 do ns, n = ns >> 1, n + 1 end
  return n
end

local function first_of(bucket) return bucket == 0 and 0 or 1 << bucket - 1 end
local function last_of(bucket) return (1 << bucket) - 1 end

local function new_group(key) return {key = key, count = 0, sum = 0, max = 0} end

local function by_time(a, b)
  if a.sum ~= b.sum then return a.sum > b.sum end
  return tostring(a.key) < tostring(b.key)
end

local function add_group(to, group)
  to.count, to.sum, to.max = to.count + group.count, to.sum + group.sum, math.max(to.max, group.max)
  for bucket = 0, 64 do
    if group[bucket] then to[bucket] = (to[bucket] or 0) + group[bucket] end
  end
end

local function evict()
  local list = {}
  for _, group in pairs(groups) do list[#list + 1] = group end
  table.sort(list, by_time)
  other = other or new_group("(other)")
  for i = #list, GROUPS_MAX // 2 + 1, -1 do
    add_group(other, list[i])
    groups[list[i].key], n_groups = nil, n_groups - 1
  end
end

function on_event()
  local key, ns = evt.field(by), evt.field(latency)
  if key == nil or key == "" then return true end
  if ns == nil then
    unknown = unknown + 1
    return true
  end
  local group = groups[key]
  if not group then
    if n_groups >= GROUPS_MAX then evict() end
    group = new_group(key)
    groups[key], n_groups = group, n_groups + 1
  end
  local bucket = bucket_of(ns)
  group[bucket] = (group[bucket] or 0) + 1
  group.count, group.sum = group.count + 1, group.sum + ns
  if ns > group.max then group.max = ns end
  return true
end

local function slowest_groups()
  local list = {other}
  for _, group in pairs(groups) do list[#list + 1] = group end
  table.sort(list, by_time)
  return table.move(list, 1, math.min(arg.top, #list), 1, {}), #list
end

local function range_of(group)
  local first, last = nil, 0
  for bucket = 0, 64 do
    if group[bucket] then first, last = first or bucket, bucket end
  end
  return first, last
end

-- Returns the latency that this share of the calls did not exceed: the end of the bucket that reaches it.
local function quantile(group, share)
  local n = 0
  for bucket = 0, 64 do
    n = n + (group[bucket] or 0)
    if n >= group.count * share then return math.min(last_of(bucket), group.max) end
  end
end

local function put_group(lines, group)
  local first, last = range_of(group)
  local most = 0
  for bucket = first, last do most = math.max(most, group[bucket] or 0) end
  lines[#lines + 1] = ("%s %s: %d call%s, %s in all, half within %s, 99%% within %s, longest %s"):format(
    arg.by, tostring(group.key), group.count, group.count == 1 and "" or "s", report.time(group.sum), report.time(quantile(group, 0.5)),
    report.time(quantile(group, 0.99)), report.time(group.max))
  lines[#lines + 1] = ("  %9s    %-9s  %9s"):format("FROM", "TO", "CALLS")
  for bucket = first, last do
    local n = group[bucket] or 0
    local bar = n > 0 and "  " .. ("*"):rep(math.max(n * WIDEST_BAR // most, 1)) or ""
    lines[#lines + 1] = ("  %9s .. %-9s  %9d%s"):format(
      report.time(first_of(bucket)), report.time(last_of(bucket)), n, bar)
  end
  lines[#lines + 1] = ""
end

local function put_json(list, now)
  for _, group in ipairs(list) do
    local buckets = {}
    for bucket = 0, 64 do
      if group[bucket] then
        buckets[#buckets + 1] = {from = first_of(bucket), to = last_of(bucket), count = group[bucket]}
      end
    end
    report.print_json({[arg.by] = group.key, count = group.count, sum = group.sum, max = group.max,
                       buckets = buckets, time = sysdig.is_live() and now or nil})
  end
end

local function draw(list, all, title)
  local lines = {title}
  for _, group in ipairs(list) do put_group(lines, group) end
  if all > #list then lines[#lines + 1] = ("%d more: top=N shows them"):format(all - #list) end
  if unknown > 0 then
    lines[#lines + 1] = ("%d calls are not counted: their start was not captured"):format(unknown)
  end
  if #list == 0 then lines[#lines + 1] = "no calls" end
  report.draw(lines)
end

local tables
tables = report.tables(arg, function(now)
  local list, all = slowest_groups()
  if report.is_json() then put_json(list, now) else draw(list, all, tables.title(now)) end
  if arg.interval > 0 then groups, n_groups, other, unknown = {}, 0, nil, 0 end
end)
on_capture_start, on_interval, on_capture_end = tables.start, tables.interval, tables.finish
