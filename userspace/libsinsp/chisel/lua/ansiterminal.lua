-- SPDX-License-Identifier: Apache-2.0
-- Control sequences of terminals: require "ansiterminal".
local terminal = {}

local codes = {
  reset = 0, clear = 0, bright = 1, dim = 2, underscore = 4, reverse = 7,
}
for i, name in ipairs({"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}) do
  codes[name], codes["on" .. name] = 29 + i, 39 + i
end

-- These also work after the chisel received captured bytes with terminal sequences.
local function put(text)
  sysdig.control_terminal("\27[" .. text)
end

local function put_color(layer, color)
  io.write(sysdig.color(("%d;5;%d"):format(layer, color)))
end

-- Colours are text, empty when they are off.
function terminal.enable_color(on)
  for name, code in pairs(codes) do
    terminal[name] = on == true and sysdig.color(tostring(code)) or ""
  end
  terminal.blink, terminal.hidden = "", "" -- not supported
end

function terminal.clearscreen() put("2J") end
function terminal.moveto(row, column) put(("%d;%dH"):format(row, column)) end
function terminal.moveup(n) put(("%dF"):format(n)) end
function terminal.clearline() put("2K") end
function terminal.hidecursor() put("?25l") end
function terminal.showcursor() put("?25h") end
function terminal.setfgcol(color) put_color(38, color) end
function terminal.setbgcol(color) put_color(48, color) end

return terminal
