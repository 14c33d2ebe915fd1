-- SPDX-License-Identifier: Apache-2.0
-- Top lists: chisels that count by key and show the largest rows. require "toplist"(SPEC) sets the
-- callbacks. Live there is a table per interval, or one of the whole capture; of a file there is one.
--
-- SPEC: keys      the columns that rows are counted by, a list of {title, field, ...}, or function(arguments)
--                 that returns it:
--                   name = NAME       key in JSON (default: the field)
--                   of = f            f() returns the key, in place of a field; needs a name
--                   show = f          f(key) returns the text to show
--                   A title, field or name can be a function of the arguments that returns it.
--       no_container  true: no column for the container with -pc
--       values    the columns that are counted, a list of {title, name = NAME, kind = KIND, ...}. Rows are
--                 sorted by the first one, unless an argument names another.
--                 What is counted is one of
--                   field = NAME      the sum of this field
--                   count = true      the number of events
--                   of = f            the sum of f(key values), a number or nil
--                 It is changed by
--                   when = NAME       only events for which this field is true
--                   max = true        the largest instead of the sum
--                   mean = true       the mean instead of the sum
--                   quantile = 0.99   the number that 99 % do not exceed, instead of the sum
--                   share = true      nanoseconds, shown as percent of the elapsed time
--                   known = f         if f() is false, the whole column is unknown
--                   unknown = true    a row without counted events has an unknown value, not 0
--                   sort = NAME       its name for the argument `sort` (default: name)
--       filter    text, or function(arguments) that returns it
--       args      more arguments, as for report.args
--       last_args the same, behind the others
--       sort_as   name of the argument for the column to sort by; it comes before `top` (default: sort,
--                 after `top`)
--       top       default number of rows (10)
--       interval  default seconds per live table (1); 0: one table of the whole capture
--       init      function(arguments), called in on_init: requests the fields that `of` uses
--       event     function(add), called for each event: returns false if the event is not to be counted,
--                 or was counted with add(key values, index of the value, n)
--       restart   called when counting starts: in on_init, and after each table
--       settle    function(add, time), called before each table: counts what no event has reported yet
--       note      called at the end of a capture file: returns a sentence about what the table lacks, or
--                 nil; an empty table is not printed then
--       lost      called at the end: returns a sentence about what was not counted, or nil
--       draw      function(rows, number of all rows): prints the rows instead of a table, and returns true; false: a table. A row
--                 has the values and keys by their names
--       nothing   sentence for a capture without anything to count (default: names the filter)
-- toplist sets spec.arg, the values of the arguments, before on_init.
--
-- Without `of`, `mean`, `quantile`, `event` and `settle`, the host counts (chisel.counter), and Lua does not
-- run for each event. Memory is bounded: when there are 100000 rows, the smaller half is merged into one row
-- `other`. So the largest rows are right, even if a process makes up keys.
local report = require "report"
local quantiles = require "quantiles"

-- ---- counting ----

local function has(rows, name)
  for _, row in ipairs(rows) do
    if row[name] then return true end
  end
  return false
end

local function needs_lua(spec, keys)
  return spec.event or spec.settle or has(keys, "of") or has(spec.values, "of")
    or has(spec.values, "mean") or has(spec.values, "quantile")
end

-- Rows that the host counts. by: index of the value by which rows are large or small. list() returns the
-- rows, and the row `other` or nil. A row has the sums by index of the value, the key values in `key`, and
-- in `n` the number of additions by index; `other` has the number of merged rows in `count`.
local function host_rows(keys, values, by)
  local n_keys, counter = #keys, chisel.counter(keys, values, by)

  local function list()
    local rows, other, count = counter:rows()
    for i, row in ipairs(rows) do
      rows[i] = table.move(row, n_keys + 1, n_keys + #values, 1, {key = row, n = {}})
    end
    if other then other.n, other.count = {}, count end
    return rows, other
  end

  return {list = list, clear = function() counter:clear() end} -- the methods of rows_class
end

local ROWS_MAX = 100000

-- Rows that Lua counts. tree finds a row by its key values: a table of tables for each key.
local rows_class = {}
rows_class.__index = rows_class

-- Several quantiles of one field are taken from the set of the first one. Returns the index of the first one by the index
-- of each other.
local function shared_sets(values)
  local shared, first = {}, {}
  for i, value in ipairs(values) do
    local of = value.quantile and value.field and value.field .. " " .. tostring(value.when)
    if of then shared[i], first[of] = first[of], first[of] or i end
  end
  return shared
end

local function lua_rows(n_keys, values, by, shared)
  return setmetatable({n_keys = n_keys, values = values, by = by, shared = shared, rows = {}, tree = {}}, rows_class)
end

function rows_class:list()
  for i, first in pairs(self.shared) do
    for _, row in ipairs(self.rows) do row[i] = row[first] end
    if self.other then self.other[i] = self.other[first] end
  end
  return self.rows, self.other
end

function rows_class:clear() self.rows, self.tree, self.other = {}, {}, nil end

-- Returns the row of these key values, and makes it if there is none.
function rows_class:find(key)
  local at, n_keys = self.tree, self.n_keys
  for i = 1, n_keys do
    local k = key[i]
    if k == nil then k = false end
    local deeper = at[k]
    if not deeper then
      deeper = i < n_keys and {} or {key = table.move(key, 1, n_keys, 1, {}), n = {}}
      at[k] = deeper
    end
    at = deeper
  end
  return at
end

-- Adds n, a number or a set of quantiles.
local function add_quantile(h, n)
  h = h or {}
  if type(n) == "table" then quantiles.merge(h, n) else quantiles.add(h, n) end
  return h
end

-- Adds n to a value of the row. times: the number of additions in n (default 1).
function rows_class:count(row, i, n, times)
  local old, value = row[i], self.values[i]
  if value.mean then row.n[i] = (row.n[i] or 0) + (times or 1) end
  if value.quantile then
    row[i] = add_quantile(old, n)
  elseif not old then
    row[i] = n
  elseif value.max then
    if n > old then row[i] = n end
  else
    row[i] = old + n
  end
end

-- Puts a row back into the tree.
function rows_class:insert(row)
  local at = self.tree
  for k = 1, self.n_keys - 1 do
    local part = row.key[k] or false
    at[part] = at[part] or {}
    at = at[part]
  end
  at[row.key[self.n_keys] or false] = row
end

function rows_class:add_to_other(row)
  self.other.count = self.other.count + 1
  for v in ipairs(self.values) do
    if row[v] and not self.shared[v] then self:count(self.other, v, row[v], row.n[v]) end
  end
end

-- Merges the smaller half of the rows into `other`.
function rows_class:evict()
  local all, by, value = self.rows, self.shared[self.by] or self.by, self.values[self.by]
  local function size(row)
    if value.quantile then return row[by] and quantiles.at(row[by], value.quantile) or 0 end
    return (row[by] or 0) / (value.mean and row.n[by] or 1)
  end
  table.sort(all, function(a, b) return size(a) > size(b) end)
  self.rows, self.tree, self.other = {}, {}, self.other or {n = {}, count = 0}
  for i, row in ipairs(all) do
    if i <= ROWS_MAX // 2 then
      self:insert(row)
      self.rows[i] = row
    else
      self:add_to_other(row)
    end
  end
end

function rows_class:row_of(key)
  local row = self:find(key)
  if not row.listed then
    if #self.rows >= ROWS_MAX then
      self:evict()
      row = self:find(key)
    end
    row.listed = true
    self.rows[#self.rows + 1] = row
  end
  return row
end

function rows_class:add(key, i, n) self:count(self:row_of(key), i, n) end

-- Returns the number to show for a sum. No sum is 0, but unknown (nil) for times and shares.
local function shown(value, sum, n, passed)
  if value.known and not value.known() then return nil end
  if not sum then return not value.unknown and value.kind ~= "time" and not value.share and 0 or nil end
  if value.mean then return sum // n end
  if value.quantile then return quantiles.at(sum, value.quantile) end
  return value.share and sum * 100 / passed or sum
end

-- Returns the last row, the total of all rows.
local function total_of(rows, other, values, passed)
  local total, all = {}, table.move(rows, 1, #rows, 1, {})
  all[#rows + 1] = other
  for i, value in ipairs(values) do
    local sum, n = nil, 0
    for _, row in ipairs(all) do
      if row[i] then
        if value.quantile then
          sum = add_quantile(sum, row[i])
        else
          sum = value.max and math.max(sum or 0, row[i]) or (sum or 0) + row[i]
        end
        n = n + (row.n[i] or 0)
      end
    end
    total[i] = shown(value, sum, n, passed)
  end
  total[#values + 1] = ("all %d"):format(#rows + (other and other.count or 0))
  return total
end

-- ---- the chisel ----

local function arguments(spec)
  local names = {}
  for i, value in ipairs(spec.values) do names[i] = value.sort or value.name end
  local rows = spec.args or {}
  local sort = {name = spec.sort_as or "sort", default = names[1], check = report.one_of(names),
                description = ("the column to sort by: %s (%s)"):format(table.concat(names, ", "), names[1])}
  if spec.sort_as then rows[#rows + 1] = sort end
  rows[#rows + 1] = {name = "top", argtype = "int", default = spec.top or 10, check = report.whole(1),
                     description = ("rows in the table (%d)"):format(spec.top or 10)}
  if not spec.sort_as then rows[#rows + 1] = sort end
  rows[#rows + 1] = {name = "interval", argtype = "int", default = spec.interval or 1, check = report.whole(0),
                     description = ("live: seconds per table; 0: one table of the whole capture (%d)"):format(spec.interval or 1)}
  for _, row in ipairs(spec.last_args or {}) do rows[#rows + 1] = row end
  return report.args(rows)
end

-- Returns the handle of a field, or false; and the function that returns the value, or false.
local function reader(field_name, of)
  if of or not field_name then return false, of or function() end end
  return chisel.request_field(field_name), false
end

local function one() return 1 end

local function sorted(rows, by, n_keys, top)
  local list = {}
  for _, row in ipairs(rows) do
    if row.shown[by] and row.shown[by] > 0 then list[#list + 1] = row end
  end
  table.sort(list, function(a, b)
    local x, y = a.shown[by], b.shown[by]
    if x ~= y then return x > y end
    for i = 1, n_keys do -- in a stable order
      x, y = tostring(a.key[i]), tostring(b.key[i])
      if x ~= y then return x < y end
    end
    return false
  end)
  return table.move(list, 1, math.min(top, #list), 1, {})
end

-- Returns the index of the value to sort by.
local function sorting(spec)
  for i, value in ipairs(spec.values) do
    if (value.sort or value.name) == spec.arg[spec.sort_as or "sort"] then return i end
  end
  return 1
end

local function shown_row(spec, row, passed)
  local cells = {}
  for i, value in ipairs(spec.values) do cells[i] = shown(value, row[i], row.n[i], passed) end
  return cells
end

local function maybe_called(x, arg)
  if type(x) == "function" then return x(arg) end
  return x
end

local Toplist = {}
Toplist.__index = Toplist

function Toplist.new(spec)
  spec.arg = arguments(spec)
  return setmetatable({
    spec = spec, columns = {}, widths = {},
    key_handles = {}, key_ofs = {}, key_shows = {}, -- from reader(), and `show`
    whens = {}, handles = {}, ofs = {}, sums = {}, -- of values; sums: whether it is a plain sum
  }, Toplist)
end

function Toplist:init_keys(keys)
  local spec, rows = self.spec, table.move(keys, 1, #keys, 1, {})
  if sysdig.is_print_container_data() and not spec.no_container then
    table.insert(rows, 1, report.container_key)
  end
  for i, key in ipairs(rows) do
    local field = maybe_called(key[2], spec.arg)
    self.key_handles[i], self.key_ofs[i] = reader(field, key.of)
    self.key_shows[i] = key.show or false
    self.columns[#self.columns + 1] = {title = maybe_called(key[1], spec.arg),
                                       name = maybe_called(key.name, spec.arg) or field}
  end
  self.n_keys = #rows
end

function Toplist:init_values()
  for i, value in ipairs(self.spec.values) do
    self.handles[i], self.ofs[i] = reader(value.field, value.count and one or value.of)
    self.whens[i] = value.when and chisel.request_field(value.when) or false
    self.sums[i] = not value.max and not value.mean and not value.quantile
  end
end

-- Returns whether Lua counts.
function Toplist:init()
  local spec = self.spec
  local keys = maybe_called(spec.keys, spec.arg)
  local in_lua = needs_lua(spec, keys)
  for i, value in ipairs(spec.values) do
    self.columns[i] = {title = value[1] or value.title, name = value.name,
                       kind = value.share and "percent" or value.kind or "number"}
  end
  self:init_keys(keys)
  if spec.init then spec.init(spec.arg) end
  self:init_values()
  self.filter = maybe_called(spec.filter, spec.arg)
  if self.filter and self.filter ~= "" then chisel.set_filter(self.filter) end
  if in_lua then
    local shared = (spec.event or spec.settle) and {} or shared_sets(spec.values) -- these add to each value themselves
    self.counted = lua_rows(self.n_keys, spec.values, sorting(spec), shared)
  else
    self.counted = host_rows(self.key_handles, spec.values, sorting(spec))
  end
  self:restart()
  return in_lua
end

function Toplist:restart()
  if self.reset_row then self.reset_row() end
  self.counted:clear()
  if self.spec.restart then self.spec.restart() end
end

-- Returns the `add` of `event` and `settle`. It can evict the row of the last event.
function Toplist:adder()
  return function(...)
    if self.reset_row then self.reset_row() end
    return self.counted:add(...)
  end
end

-- Returns on_event, the hot path. Consecutive events often have the same key, and several values the same
-- field: neither is looked up again. Everything that it uses is in locals.
function Toplist:event_counter()
  local counted, n_keys, n_values = self.counted, self.n_keys, #self.spec.values
  local key_handles, key_ofs = self.key_handles, self.key_ofs
  local whens, handles, ofs, sums = self.whens, self.handles, self.ofs, self.sums
  local event, field, add, shared = self.spec.event, evt.field, self:adder(), counted.shared
  local key, row = {}, nil -- of the last event; row is nil until it is looked up

  function self.reset_row() row = nil end

  local function count(i, n)
    if not row then row = counted:row_of(key) end
    if sums[i] then row[i] = (row[i] or 0) + n else counted:count(row, i, n) end
  end

  return function()
    if event and not event(add) then return true end
    local known = false
    for i = 1, n_keys do
      local k, handle = nil, key_handles[i]
      if handle then k = field(handle) else k = key_ofs[i]() end
      if k ~= nil then known = true end
      if k ~= key[i] then key[i], row = k, nil end
    end
    if not known then return true end
    local last, n
    for i = 1, n_values do
      local when, handle = whens[i], handles[i]
      if not shared[i] and (not when or field(when)) then
        if not handle then
          last, n = nil, ofs[i](key)
        elseif handle ~= last then
          last, n = handle, field(handle)
        end
        if n and n > 0 then count(i, n) end
      end
    end
    return true
  end
end

-- Returns the rows to show, and `other` below them.
function Toplist:lines(all, other, passed)
  local spec = self.spec
  for _, row in ipairs(all) do row.shown = shown_row(spec, row, passed) end
  local rows = sorted(all, sorting(spec), self.n_keys, spec.arg.top)
  for n, row in ipairs(rows) do
    rows[n] = row.shown
    for i = 1, self.n_keys do
      local k, show = row.key[i], self.key_shows[i]
      rows[n][#spec.values + i] = k and show and show(k) or k
    end
  end
  if other then
    rows[#rows + 1] = shown_row(spec, other, passed)
    rows[#rows][#spec.values + 1] = report.is_json() and "other" or ("other %d"):format(other.count)
  end
  return rows
end

-- Returns whether the chisel printed the rows itself.
function Toplist:draws(rows, n_all)
  if not self.spec.draw or report.is_json() then return false end
  local named = {}
  for n, row in ipairs(rows) do
    named[n] = {}
    for i, column in ipairs(self.columns) do named[n][column.name] = row[i] end
  end
  return self.spec.draw(named, n_all)
end

-- Prints the table of the time from begin to now, and starts the next one.
function Toplist:put(now, begin)
  local spec = self.spec
  if spec.settle then spec.settle(self:adder(), now) end
  local passed, all, other = math.max(now - begin, 1), self.counted:list()
  local note = spec.note and not sysdig.is_live() and spec.note()
  if note then sysdig.log(note, "warning") end
  if note and #all == 0 then return end
  local rows = self:lines(all, other, passed)
  if not self:draws(rows, #all + (other and other.count or 0)) then
    report.put(self.columns, rows, self.widths, self.tables.title(now), sysdig.is_live() and now or nil,
               #all > 1 and total_of(all, other, spec.values, passed) or nil)
  end
  if #rows == 0 and not sysdig.is_live() then report.put_nothing(spec.nothing, self.filter) end
  if spec.arg.interval > 0 then self:restart() end
end

return function(spec)
  local list = Toplist.new(spec)
  local tables = report.tables(spec.arg, function(now, begin) list:put(now, begin) end)
  list.tables = tables

  function on_init()
    if list:init() then on_event = list:event_counter() end
    return true
  end

  on_capture_start, on_interval = tables.start, tables.interval

  function on_capture_end(s, ns)
    tables.finish(s, ns)
    local lost = spec.lost and spec.lost()
    if lost then sysdig.log(lost, "warning") end
  end
end
