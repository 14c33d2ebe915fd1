-- SPDX-License-Identifier: Apache-2.0
description = "Lines that processes write to files whose name tells of a log (.log, _log, or below /var/log). Lines with an error in them are red, with a warning yellow. With -r and a file name, what the same threads did around each is saved to a capture file."
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
