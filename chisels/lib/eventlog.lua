-- SPDX-License-Identifier: Apache-2.0
-- Chisels that print one line per event: require "eventlog"(SPEC), which sets the callbacks.
--
-- SPEC: columns  list of {TITLE, FIELD, width =, kind =, name =, of =}, as for report.stream.
--                name: the key in JSON (default FIELD); of(value) returns the value to show;
--                splits = true: each line of the text makes a row
--       filter   text, or function(arguments) that returns it
--       args     arguments, as for report.args; disable_color is added
--       init     function(arguments), called in on_init: requests the fields that `of` uses
--       color    function(values by name, arguments) that returns the name of a colour, or nil
--       wants    function(values by name, arguments) that returns false for an event to skip
--       snaplen  bytes of each buffer to keep, live
--       nothing  sentence for a capture without such events (default: names the filter)
--       saves    true: the events around each line can be saved to a file (excerpt.lua)
local report = require "report"

local function arguments(spec, excerpt)
  local rows = spec.args or {}
  if excerpt then table.move(excerpt.args, 1, #excerpt.args, #rows + 1, rows) end
  rows[#rows + 1] = report.color_arg
  return report.args(rows)
end

-- Returns the value to show: without spaces at the end, and nil if it is empty.
local function cell(column, value)
  if column.of then value = column.of(value) end
  if type(value) == "string" then value = report.trim(value) end
  if value == "" then return nil end
  return value
end

local EventLog = {}
EventLog.__index = EventLog

-- Returns false if the arguments are bad.
function EventLog:init()
  local spec, arg, excerpt = self.spec, self.arg, self.excerpt
  if excerpt and not excerpt.init(arg) then return false end
  if spec.init then spec.init(arg) end
  if spec.snaplen then sysdig.set_snaplen(spec.snaplen) end
  for i, c in ipairs(report.with_container(spec.columns)) do
    self.columns[i] = {title = c[1], name = c.name or c[2], kind = c.kind, width = c.width, of = c.of}
    if c.splits then self.splits = i end
    self.handles[i] = c[2] and chisel.request_field(c[2]) or false
  end
  self.filter = type(spec.filter) == "function" and spec.filter(arg) or spec.filter
  if self.filter then chisel.set_filter(self.filter) end
  self.put, self.finish = report.log(self.columns)
  return true
end

function EventLog:put_row(row, named)
  local color = self.spec.color
  self.put(row, color and color(named, self.arg))
end

-- Prints a row for each line of the text in the column that splits.
function EventLog:put_lines(row, named)
  local splits = self.splits
  for text in row[splits]:gmatch("[^\n]+") do
    row[splits], named[self.columns[splits].name] = text, text
    self:put_row(row, named)
  end
end

local field = evt.field

function EventLog:event()
  local row, named, handles, wants = {}, {}, self.handles, self.spec.wants
  for i, column in ipairs(self.columns) do
    local value = cell(column, handles[i] and field(handles[i]) or nil)
    row[i], named[column.name] = value, value
  end
  if wants and not wants(named, self.arg) then return end
  if self.splits and row[self.splits] then
    self:put_lines(row, named)
  else
    self:put_row(row, named)
  end
  if self.excerpt then self.excerpt.note() end
end

return function(spec)
  local excerpt = spec.saves and require "excerpt"
  local log = setmetatable({spec = spec, excerpt = excerpt, arg = arguments(spec, excerpt),
                            columns = {}, handles = {}, splits = nil}, EventLog)

  function on_init() return log:init() end

  function on_event()
    log:event()
    return true
  end

  function on_capture_end()
    log.finish(spec.nothing, log.filter)
    if excerpt then excerpt.save() end
  end
end
