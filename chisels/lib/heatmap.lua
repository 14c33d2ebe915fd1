-- SPDX-License-Identifier: Apache-2.0
-- Chisels that draw a heat map, a row for each period of time: require "heatmap"(SPEC), which sets the
-- callbacks. On a terminal a cell is a colour, and the scale stays below the newest row; elsewhere a cell
-- is a character.
--
-- SPEC: filter   selects the events
--       period   default milliseconds of a row
--       init     called in on_init: requests fields
--       cell     function(time, width, period_ns): returns the cell of the current event, 1 to width, or nil
--       bounds   function(cell, width, period_ns): returns the nanoseconds at either end of a cell
--       marks    function(width, period_ns): returns the scale, a list of {cell, text}
local report = require "report"

-- Calls per second from which on a cell has this character, and this color (of 256).
local levels = {
  {1, ".", 22}, {3, ":", 28}, {10, "-", 34}, {30, "=", 40}, {100, "+", 148}, {300, "*", 226},
  {1000, "#", 214}, {3000, "%", 202}, {10000, "@", 196},
}
local MARGIN = 14 -- columns before a row, for its time

local function level_of(rate)
  local found
  for _, level in ipairs(levels) do
    if rate < level[1] then break end
    found = level
  end
  return found or levels[1]
end

-- Returns n spaces on a background color (of 256).
local function spaces(n, color)
  return sysdig.color(("48;5;%d"):format(color)) .. (" "):rep(n) .. sysdig.color("0")
end

local function draw_cell(count, period_ns)
  if not count then return " " end
  local level = level_of(count * 1000000000 / period_ns)
  return report.colors() and spaces(1, level[3]) or level[2]
end

local function legend()
  local parts = {}
  for i, level in ipairs(levels) do
    local sign = report.colors() and spaces(2, level[3]) or level[2]
    local rate = level[1] < 1000 and level[1] or level[1] // 1000 .. "k"
    parts[i] = ("%s %s"):format(sign, rate)
  end
  return "calls a second: " .. table.concat(parts, " ")
end
local LEGEND_WIDTH = 72

local Heatmap = {}
Heatmap.__index = Heatmap

function Heatmap.new(spec)
  local arg = report.args {
    {name = "refresh_time", argtype = "int", default = spec.period, check = report.whole(1),
     description = ("milliseconds per row (%d)"):format(spec.period)},
    report.color_arg,
  }
  return setmetatable({spec = spec, arg = arg, width = 64, counts = {}, n_empty = 0, has_scale = false}, Heatmap)
end

-- Leaves out a mark if the one before it takes its room.
function Heatmap:scale()
  local text = (" "):rep(MARGIN)
  for _, mark in ipairs(self.spec.marks(self.width, self.period_ns)) do
    local gap = MARGIN + mark[1] - 1 - #text
    if gap >= 0 then text = text .. (" "):rep(gap) .. "|" .. mark[2] end
  end
  return text
end

function Heatmap:put_json()
  local cells = {}
  for i = 1, self.width do
    if self.counts[i] then
      local from, to = self.spec.bounds(i, self.width, self.period_ns)
      cells[#cells + 1] = {from = from, to = to, count = self.counts[i]}
    end
  end
  report.print_json {time = self.row * self.period_ns, period = self.period_ns, cells = cells}
end

function Heatmap:put_scale()
  print(self:scale())
  if self.has_legend then print(legend()) end
  self.has_scale = true
end

-- Prints a row and the scale below it; the next row overwrites the scale.
function Heatmap:put_line(text)
  local scrolls = sysdig.is_tty() and sysdig.is_alone()
  if self.has_scale and scrolls then
    sysdig.control_terminal(("\27[%dA\27[J"):format(self.has_legend and 2 or 1))
  end
  if not self.has_scale and not scrolls then self:put_scale() end
  print(text)
  if scrolls then self:put_scale() end
end

-- Prints the current row; many empty rows become one line.
function Heatmap:put_row()
  local is_empty = next(self.counts) == nil
  self.n_empty = is_empty and self.n_empty + 1 or 0
  if report.is_json() then
    if not is_empty then self:put_json() end
    return
  end
  if self.n_empty > 3 then
    if self.n_empty == 4 then self:put_line("...") end
    return
  end
  local cells = {}
  for i = 1, self.width do cells[i] = draw_cell(self.counts[i], self.period_ns) end
  self:put_line(report.clock(self.row * self.period_ns) .. "  " .. report.trim(table.concat(cells)))
end

function Heatmap:advance(now)
  local at = now // self.period_ns
  self.row = self.row or at
  while self.row < at do
    self:put_row()
    self.counts, self.row = {}, self.row + 1
    if self.n_empty > 4 and at - self.row > 4 then self.row = at - 2 end
  end
end

function Heatmap:start()
  local columns = sysdig.get_terminal_info().width
  if columns > MARGIN + 20 then self.width = columns - MARGIN - 8 end
  self.has_legend = columns == 0 or columns >= LEGEND_WIDTH -- a line that wraps could not be overwritten
  self.period_ns = self.arg.refresh_time * 1000000
  chisel.set_interval_ns(self.period_ns)
end

return function(spec)
  local map, field, time = Heatmap.new(spec), evt.field, nil

  function on_init()
    chisel.set_filter(spec.filter)
    time = chisel.request_field("evt.rawtime")
    if spec.init then spec.init() end
    return true
  end

  function on_capture_start()
    map:start()
    return true
  end

  function on_event()
    local now = field(time)
    map:advance(now)
    local cell, counts = spec.cell(now, map.width, map.period_ns), map.counts
    if cell then counts[cell] = (counts[cell] or 0) + 1 end
    return true
  end

  function on_interval(s, ns)
    map:advance(s * 1000000000 + ns)
    return true
  end

  function on_capture_end()
    if map.row and next(map.counts) then map:put_row() end
  end
end
