-- SPDX-License-Identifier: Apache-2.0
description = "Prints the lines that processes write to log files: those with .log or _log in their name, or below /var/log. Lines with an error are red, with a warning yellow. With -r and a file name as an argument, it also saves what the same threads did around each line to a capture file."
short_description = "Print lines that are written to log files"
category = "Logs"

local report = require "report"

local function tone(text)
  local lower = text:lower()
  if lower:find("error") or lower:find("fatal") or lower:find("panic") or lower:find("crit") then
    return "red"
  end
  return lower:find("warn") and "yellow" or nil
end

require "eventlog" {
  saves = true,
  snaplen = 2000,
  filter = "fd.type=file and evt.is_io_write=true and evt.dir=< and evt.rawres>0 and "
    .. "(fd.name contains .log or fd.name contains _log or fd.name startswith /var/log/)",
  columns = {
    {"TIME", "evt.rawtime", name = "time", kind = "clock", width = 12},
    {"PID", "proc.pid", kind = "number", width = 7},
    {"PROCESS", "proc.name", width = 15},
    {"FILE", "fd.name", kind = "file", width = 32},
    {"LINE", "evt.rawarg.data", name = "line", of = function(bytes) return bytes and report.text(bytes) end,
     splits = true},
  },
  color = function(row) return row.line and tone(row.line) end,
}
