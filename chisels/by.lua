-- SPDX-License-Identifier: Apache-2.0
description = "Groups events by any fields, with numbers per group: -c by proc.name,evt.type sum=evt.buflen p99=evt.latency. saker -l lists the fields; commas separate them. Rows are sorted by the first number, or by the column that sort= names, as in sort=count. A syscall counts once, when it ends, unless the filter uses evt.dir. Events that lack a summed field add nothing to its sum; events that lack a key form a group of their own. Quantiles (p50, p90, p99) are accurate to 2 percent. There are at most 10000 groups, or 128 MiB of keys: beyond that the smaller half becomes one row, 'other'. distinct counts up to a million values, or 256 MiB of them."
short_description = "Group events by any fields: counts, sums, means, quantiles"
category = "Performance"

local report = require "report"

local GROUPS_MAX = 10000
-- Watched processes can make up any number of names and values: memory is bounded.
local DISTINCT_MAX = 1000000 -- distinct values of all groups; with more, the numbers are too low
local DISTINCT_BYTES_MAX = 256 << 20 -- of the distinct values that are text
local KEY_BYTES_MAX = 128 << 20 -- of the keys of all groups
local BUCKETS_MAX = 4 << 20 -- of the histograms of all groups
local STEPS = 36 -- buckets of a histogram per doubling: 2^(1/36) is 1.02

report.kinds.mean = {show = function(n) return ("%.1f"):format(n) end, right = true}

-- ---- arguments ----

local function list_of(text)
  local list = {}
  for name in text:gmatch("[^,%s]+") do list[#list + 1] = name end
  return list
end

local function check_fields(text)
  for _, name in ipairs(list_of(text)) do
    local known, why = report.field(name)
    if not known then return nil, why end
  end
  return text
end

local function check_numbers(text)
  for _, name in ipairs(list_of(text)) do
    local known, why = pcall(chisel.counter, {}, {{field = name}})
    if not known then
      why = tostring(why)
      return nil, why:match("chisel%.request_field%(.-%): (.*)") or why:match("chisel%.counter: (.*)") or why
    end
  end
  collectgarbage()
  return text
end

local rows = {{name = "fields", check = check_fields, description = "fields to group by, separated by commas"}}
local FUNCTIONS = {
  {"sum", "sums"}, {"avg", "means"}, {"min", "minimums"}, {"max", "maximums"}, {"p50", "medians"},
  {"p90", "90th percentiles"}, {"p99", "99th percentiles"}, {"distinct", "numbers of distinct values"},
}
for i, f in ipairs(FUNCTIONS) do
  rows[i + 1] = {name = f[1], optional = true, check = f[1] == "distinct" and check_fields or check_numbers,
                 description = f[2] .. " of these fields"}
end
rows[#rows + 1] = {name = "top", argtype = "int", default = 20, check = report.whole(1), description = "rows in the table (20)"}
rows[#rows + 1] = {name = "sort", optional = true, description = "the column to sort by (default: the first)"}
rows[#rows + 1] = {name = "interval", argtype = "int", default = 0, check = report.whole(0),
                   description = "live: seconds per table; 0: one table of the whole capture (0)"}
local arg = report.args(rows)

-- ---- the state of a group ----

local keys = {} -- handles
local fields, handles = {}, {} -- of the fields with numbers: index by name, handle by index
local columns = {} -- of numbers: {title, name, kind, fn, field = index}
local n_distinct, n_distinct_bytes, lost_distinct = 0, 0, 0
local n_buckets, n_key_bytes = 0, 0

local function bucket_of(v)
  if v == 0 then return 0 end
  -- As a float: the smallest integer has no absolute value.
  local n = math.floor(math.log(math.abs(v + 0.0), 2) * STEPS) + 100000
  return v > 0 and n or -n
end

local function value_of(bucket)
  if bucket == 0 then return 0 end
  local v = 2 ^ ((math.abs(bucket) - 100000 + 0.5) / STEPS)
  return bucket > 0 and v or -v
end

local function size_of(v) return type(v) == "string" and #v or 0 end

-- s: the state of one field in one group.
local function add(s, v, wants)
  if wants.numbers then
    s.n, s.sum = s.n + 1, s.sum + v
    if not s.min or v < s.min then s.min = v end
    if not s.max or v > s.max then s.max = v end
  end
  if wants.hist then
    local b = bucket_of(v)
    if not s.hist[b] then n_buckets = n_buckets + 1 end
    s.hist[b] = (s.hist[b] or 0) + 1
  end
  if wants.seen and not s.seen[v] then
    local bytes = size_of(v)
    if n_distinct >= DISTINCT_MAX or n_distinct_bytes + bytes > DISTINCT_BYTES_MAX then
      lost_distinct = lost_distinct + 1
    else
      s.seen[v], s.n_seen, s.seen_bytes = true, s.n_seen + 1, s.seen_bytes + bytes
      n_distinct, n_distinct_bytes = n_distinct + 1, n_distinct_bytes + bytes
    end
  end
end

local wants = {} -- by index of the field: which numbers are needed

local function new_group(key)
  local group = {key = key, n = 0}
  for i in ipairs(handles) do group[i] = {n = 0, sum = 0, hist = {}, seen = {}, n_seen = 0, seen_bytes = 0} end
  return group
end

local function merge(to, from)
  to.n = to.n + from.n
  for i, s in ipairs(from) do
    local t = to[i]
    t.n, t.sum = t.n + s.n, t.sum + s.sum
    if s.min and (not t.min or s.min < t.min) then t.min = s.min end
    if s.max and (not t.max or s.max > t.max) then t.max = s.max end
    for b, n in pairs(s.hist) do t.hist[b] = (t.hist[b] or 0) + n end
    t.n_seen = nil -- the values of the groups can overlap
  end
end

local function quantile(s, share)
  local order, n = {}, 0
  for b in pairs(s.hist) do order[#order + 1] = b end
  table.sort(order)
  for _, b in ipairs(order) do
    n = n + s.hist[b]
    if n >= s.n * share then return math.floor(math.max(s.min, math.min(s.max, value_of(b))) + 0.5) end
  end
end

local shares = {p50 = 0.5, p90 = 0.9, p99 = 0.99}

local function number_of(group, column)
  if column.fn == "count" then return group.n end
  local s = group[column.field]
  if column.fn == "distinct" then return s.n_seen end
  if s.n == 0 then return nil end
  if column.fn == "avg" then return s.sum / s.n end
  if shares[column.fn] then return quantile(s, shares[column.fn]) end
  return s[column.fn]
end

-- ---- groups ----

local groups, n_groups, other
local sort_by = 1

local function clear()
  groups, n_groups, other = {}, 0, nil
  n_distinct, n_distinct_bytes, n_buckets, n_key_bytes = 0, 0, 0, 0
end

local function sorted()
  local list = {}
  for id, group in pairs(groups) do
    group.id, group.size = id, number_of(group, columns[sort_by]) or -math.huge
    list[#list + 1] = group
  end
  table.sort(list, function(a, b)
    if a.size ~= b.size then return a.size > b.size end
    return tostring(a.id) < tostring(b.id)
  end)
  return list
end

local function drop(group)
  merge(other, group)
  other.count = (other.count or 0) + 1
  groups[group.id], n_groups, n_key_bytes = nil, n_groups - 1, n_key_bytes - #group.id
  for _, s in ipairs(group) do
    n_distinct, n_distinct_bytes = n_distinct - s.n_seen, n_distinct_bytes - s.seen_bytes
    for _ in pairs(s.hist) do n_buckets = n_buckets - 1 end
  end
end

local function evict()
  local list = sorted()
  other = other or new_group({})
  for i = #list, #list // 2 + 1, -1 do drop(list[i]) end
end

local function is_full()
  return n_groups >= GROUPS_MAX or n_groups > 1 and (n_key_bytes > KEY_BYTES_MAX or n_buckets > BUCKETS_MAX)
end

local parts, values = {}, {}

local function current_group()
  for i, handle in ipairs(keys) do
    local v = evt.field(handle)
    values[i] = v
    v = v == nil and "" or tostring(v)
    parts[i] = #v .. (values[i] == nil and "-" or ":") .. v -- a value can have any bytes
  end
  local id = table.concat(parts)
  local group = groups[id]
  if not group then
    if is_full() then evict() end
    group = new_group(table.move(values, 1, #keys, 1, {}))
    groups[id], n_groups, n_key_bytes = group, n_groups + 1, n_key_bytes + #id
  end
  return group
end

-- ---- callbacks ----

local function kind_of(fn, name)
  if fn == "distinct" then return "number" end
  if name:find("latency") or name:find("duration") or name:find("deltatime") then return "time" end
  if name:find("bytes") or name:find("buflen") then return "bytes" end
  return fn == "avg" and "mean" or "number"
end

local function add_column(fn, name)
  local at = fields[name] or #handles + 1
  fields[name], handles[at] = at, handles[at] or chisel.request_field(name)
  local w = wants[at] or {}
  wants[at] = w
  if fn == "distinct" then w.seen = true else w.numbers = true end
  if shares[fn] then w.hist = true end
  columns[#columns + 1] = {title = ("%s(%s)"):format(fn:upper(), name), name = ("%s(%s)"):format(fn, name),
                           kind = kind_of(fn, name), fn = fn, field = at}
end

local function find_sort()
  for i, c in ipairs(columns) do
    if arg.sort == c.name or arg.sort == c.fn then return i end
  end
  local names = {}
  for i, c in ipairs(columns) do names[i] = c.name end
  io.stderr:write(("sort: one of %s is needed\n"):format(table.concat(names, ", ")))
end

local n_values, shown, widths = 0, {}, {}
local tables

function on_init()
  for i, f in ipairs(FUNCTIONS) do
    for _, name in ipairs(list_of(arg[f[1]] or "")) do add_column(f[1], name) end
  end
  columns[#columns + 1] = {title = "COUNT", name = "count", kind = "number", fn = "count"}
  n_values = #columns
  shown = table.move(columns, 1, n_values, 1, {})
  for i, name in ipairs(list_of(arg.fields)) do
    keys[i] = chisel.request_field(name)
    shown[n_values + i] = {title = name:upper(), name = name}
  end
  sort_by = not arg.sort and 1 or find_sort()
  if not sort_by or #keys == 0 then return false end
  if not sysdig.get_filter():find("evt%.dir") then
    chisel.set_filter(("(%s or not syscall.type exists) and evt.category!=internal"):format(report.is_end))
  end
  clear()
  return true
end

function on_event()
  local group = current_group()
  group.n = group.n + 1
  for i, handle in ipairs(handles) do
    local v = evt.field(handle)
    if v ~= nil then add(group[i], v, wants[i]) end
  end
  return true
end

local function row_of(group, label)
  local row = {}
  for i, c in ipairs(columns) do row[i] = number_of(group, c) end
  for i = 1, #keys do
    row[n_values + i] = group.key[i]
  end
  if label then row[n_values + 1] = label end
  return row
end

local function put(now)
  local live, list, table_rows = sysdig.is_live(), sorted(), {}
  local all = new_group({})
  for i, group in ipairs(list) do
    if i <= arg.top then table_rows[i] = row_of(group) end
    merge(all, group)
  end
  if other then
    merge(all, other)
    table_rows[#table_rows + 1] = row_of(other, report.is_json() and "other" or ("other %d"):format(other.count))
  end
  local n = #list + (other and other.count or 0)
  report.put(shown, table_rows, widths, tables.title(now), live and now or nil,
             n > 1 and row_of(all, ("all %d"):format(n)) or nil)
  if n == 0 and not live then report.put_nothing("no events") end
  if arg.interval > 0 then clear() end
end

tables = report.tables(arg, put)
on_capture_start, on_interval = tables.start, tables.interval

function on_capture_end(s, ns)
  tables.finish(s, ns)
  if lost_distinct > 0 then
    sysdig.log(("%d values are not counted as distinct: there are more than %d, or more than %d MB of them"):format(
      lost_distinct, DISTINCT_MAX, DISTINCT_BYTES_MAX // 1000000), "warning")
  end
end
