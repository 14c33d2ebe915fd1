-- SPDX-License-Identifier: Apache-2.0
-- A chisel that counts by key and shows the largest: require "toplist", then toplist(SPEC) in place
-- of the callbacks. While live, a table for each interval; of a capture, one of all of it.
--
-- SPEC: keys    what rows are counted by: {title, field} each, in the order of the columns
--       values  what is counted: {title, name, kind, ...}, the first one is what rows are sorted by:
--                 field = NAME   its values, added up;  count = true   events;
--                 of = function() -> number or nil      anything else;
--                 max = true     the largest instead of the sum;
--                 share = true   nanoseconds, shown as percent of the time that passed
--       filter  which events (text, or a function that makes it of the arguments)
--       args    further arguments, as of report.args; SPEC gets them as `spec.arg` before on_init
--       init    called in on_init, to request fields that `of` uses
--       settle  called with (add, time) before a table is made: add(key values, index of the value, n)
local report = require "report"

-- ---- counting ----

local function make_rows(n_keys, values)
  local rows = {}

  local function find(at, key)
    for i = 1, n_keys do
      local k, deeper = key[i], nil
      if k == nil then k = false end
      deeper = at[k]
      if not deeper then
        deeper = i < n_keys and {} or {key = table.move(key, 1, n_keys, 1, {})}
        at[k] = deeper
      end
      at = deeper
    end
    return at
  end

  local tree = {}
  return {
    list = rows,
    add = function(key, i, n)
      local row = find(tree, key)
      if not row.listed then
        row.listed = true
        rows[#rows + 1] = row
      end
      local old = row[i]
      if not old then
        row[i] = n
      elseif values[i].max then
        if n > old then row[i] = n end
      else
        row[i] = old + n
      end
    end,
  }
end

-- ---- the chisel ----

local function arguments(spec)
  local names = {}
  for i, value in ipairs(spec.values) do names[i] = value.name end
  local rows = spec.args or {}
  rows[#rows + 1] = {name = "top", argtype = "int", default = spec.top or 10, check = report.whole(1),
                     description = "how many rows (" .. (spec.top or 10) .. ")"}
  rows[#rows + 1] = {name = "sort", default = names[1], check = report.one_of(names),
                     description = "by which column: " .. table.concat(names, ", ")}
  rows[#rows + 1] = {name = "interval", argtype = "int", default = 1, check = report.whole(1),
                     description = "seconds between tables while live (1)"}
  return report.args(rows)
end

local function value_readers(spec)
  local readers = {}
  for i, value in ipairs(spec.values) do
    if value.count then
      readers[i] = function() return 1 end
    elseif value.field then
      local handle, field = chisel.request_field(value.field), evt.field
      readers[i] = function() return field(handle) end
    else
      readers[i] = value.of or function() end
    end
  end
  return readers
end

local function sorted(rows, by, top)
  local list = {}
  for _, row in ipairs(rows) do
    if row[by] then list[#list + 1] = row end
  end
  table.sort(list, function(a, b)
    if a[by] ~= b[by] then return a[by] > b[by] end
    for i = 1, #a.key do -- in an order that does not change
      local x, y = tostring(a.key[i]), tostring(b.key[i])
      if x ~= y then return x < y end
    end
    return false
  end)
  return table.move(list, 1, math.min(top, #list), 1, {})
end

return function(spec)
  spec.arg = arguments(spec)

  local columns, widths, keys, readers, counted = {}, {}, {}, {}, nil
  local begin, drawn = nil, false

  local function restart()
    counted = make_rows(#keys, spec.values)
  end

  function on_init()
    local key_rows = table.move(spec.keys, 1, #spec.keys, 1, {})
    if sysdig.is_print_container_data() and not spec.no_container then
      table.insert(key_rows, 1, {"CONTAINER", "container.name"})
    end
    for _, value in ipairs(spec.values) do
      columns[#columns + 1] = {title = value[1] or value.title, name = value.name,
                               kind = value.share and "percent" or value.kind or "number"}
    end
    for i, key in ipairs(key_rows) do
      local field = type(key[2]) == "function" and key[2](spec.arg) or key[2]
      local title = type(key[1]) == "function" and key[1](spec.arg) or key[1]
      keys[i] = chisel.request_field(field)
      columns[#columns + 1] = {title = title, name = field}
    end
    if spec.init then spec.init(spec.arg) end
    readers = value_readers(spec)
    local filter = type(spec.filter) == "function" and spec.filter(spec.arg) or spec.filter
    if filter and filter ~= "" then chisel.set_filter(filter) end
    restart()
    return true
  end

  function on_capture_start()
    if sysdig.is_live() then chisel.set_interval_s(spec.arg.interval) end
    return true
  end

  local field, key, n_readers = evt.field, {}, #spec.values
  function on_event()
    local n_known = 0
    for i = 1, #keys do
      key[i] = field(keys[i])
      if key[i] ~= nil then n_known = n_known + 1 end
    end
    if n_known == 0 then return true end
    for i = 1, n_readers do
      local n = readers[i]()
      if n and n > 0 then counted.add(key, i, n) end
    end
    return true
  end

  local function put(now)
    if spec.settle then spec.settle(counted.add, now) end
    local by = 1
    for i, value in ipairs(spec.values) do
      if value.name == spec.arg.sort then by = i end
    end
    begin = begin or tonumber(sysdig.get_firstevent_ts())
    local passed, rows = math.max(now - begin, 1), {}
    for n, row in ipairs(sorted(counted.list, by, spec.arg.top)) do
      rows[n] = {}
      for i, value in ipairs(spec.values) do
        rows[n][i] = row[i] and value.share and row[i] * 100 / passed or row[i]
      end
      for i = 1, #keys do rows[n][#spec.values + i] = row.key[i] end
    end
    local title = nil
    if sysdig.is_live() then
      title = (drawn and not report.redraws() and "\n" or "") .. os.date("%H:%M:%S", now // 1000000000)
    end
    report.put(columns, rows, widths, title, sysdig.is_live() and now or nil)
    drawn, begin = true, now
    restart()
  end

  function on_interval(s, ns)
    put(s * 1000000000 + ns)
    return true
  end

  -- The last, unfinished interval does not take the place of the last whole one on the screen.
  function on_capture_end(s, ns)
    if not (drawn and report.redraws()) then put(s * 1000000000 + ns) end
  end
end
