-- SPDX-License-Identifier: Apache-2.0
description = "Compares two captures with sampled stacks, function by function; the first file is the one before. CHANGE is how much the function's share of all samples grew (+) or shrank (-), TOTAL CHANGE the same with the functions that it calls. Shares are compared because no two captures have the same length. saker profile --diff A B, or saker -r A -r B -c stackdiff. Record samples with saker profile -w FILE, or saker --sample 99 -w FILE."
short_description = "Compare the functions of two captures with samples"
category = "Performance"

local report = require "report"
local profilepair = require "profilepair"

local arg = report.args {
  {name = "top", argtype = "int", default = 30, check = report.whole(1), description = "rows in the table (30)"},
}
local pair

local function columns_of()
  local kind = pair.after:is_time() and pair.before:is_time() and "time" or "number"
  return {
    {title = "CHANGE", name = "self_change", kind = "points"},
    {title = "BEFORE%", name = "self_before", kind = "percent"},
    {title = "AFTER%", name = "self_after", kind = "percent"},
    {title = "BEFORE", name = "before", kind = kind},
    {title = "AFTER", name = "after", kind = kind},
    {title = "TOTAL CHANGE", name = "total_change", kind = "points", extra = true},
    {title = "FUNCTION", name = "function", fits = true},
    {title = "MODULE", name = "module"},
  }
end
report.kinds.points = {show = function(n) return ("%+.2f"):format(n) end, right = true}

function on_init()
  pair = profilepair.new()
  return true
end

function on_event() pair.add() end

local none = {self = 0, total = 0}

local function rows_of()
  local rows, before, after = {}, pair.before:total(), pair.after:total()
  local old, old_by = pair.before:functions()
  local new, new_by = pair.after:functions()
  local function add(r)
    local a, b = old_by[r.key] or none, new_by[r.key] or none
    local x, y = profilepair.share(a.self, before), profilepair.share(b.self, after)
    local total = profilepair.share(b.total, after) - profilepair.share(a.total, before)
    rows[#rows + 1] = {y - x, x, y, a.self, b.self, total, r.frame.name, r.frame.module_name, key = r.key}
  end
  for _, r in ipairs(new) do add(r) end
  for _, r in ipairs(old) do
    if not new_by[r.key] then add(r) end
  end
  table.sort(rows, function(a, b)
    local x, y = math.abs(a[1]), math.abs(b[1])
    if x ~= y then return x > y end
    x, y = math.abs(a[6]), math.abs(b[6])
    if x ~= y then return x > y end
    return a.key < b.key
  end)
  return rows
end

function on_capture_end()
  if pair.is_empty() then return end
  local rows = rows_of()
  report.put_once(columns_of(), table.move(rows, 1, math.min(#rows, arg.top), 1, {}))
  if report.is_json() then return end
  -- A share can shrink because others grew: the totals show that.
  print(("100%%: %s before, %s after"):format(pair.before:show(pair.before:total()), pair.after:show(pair.after:total())))
end
