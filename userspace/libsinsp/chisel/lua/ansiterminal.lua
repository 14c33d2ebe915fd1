-- SPDX-License-Identifier: Apache-2.0
-- Control sequences of terminals: require "ansiterminal".
local terminal = {}

local codes = {
  reset = 0, clear = 0, bright = 1, dim = 2, underscore = 4, blink = 5, reverse = 7, hidden = 8,
}
for i, name in ipairs({"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}) do
  codes[name], codes["on" .. name] = 29 + i, 39 + i
end

local function put(text)
  io.write("\27[", text)
end

-- Colours are texts: empty ones when they are off.
function terminal.enable_color(on)
  for name, code in pairs(codes) do
    terminal[name] = on == true and "\27[" .. code .. "m" or ""
  end
end

function terminal.clearscreen() put("2J") end
function terminal.moveto(row, column) put(row .. ";" .. column .. "H") end
function terminal.moveup(n) put(n .. "F") end
function terminal.clearline() put("2K") end
function terminal.hidecursor() put("?25l") end
function terminal.showcursor() put("?25h") end
function terminal.setfgcol(color) put("38;5;" .. color .. "m") end
function terminal.setbgcol(color) put("48;5;" .. color .. "m") end

return terminal
