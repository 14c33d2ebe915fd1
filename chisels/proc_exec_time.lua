-- SPDX-License-Identifier: Apache-2.0
description = "Shows each process that ends: how long it ran, how it ended, and its command line. Processes that ran for 10 seconds or longer are red, for 3 seconds or longer yellow."
short_description = "Show how long processes ran and how they ended"
category = "Performance"

-- Returns the text of a wait status, as from waitpid.
local function status(n)
  if not n then return nil end
  local signal = n & 0x7f
  if signal == 0 then return "exit " .. (n >> 8 & 0xff) end
  return ("signal %d%s"):format(signal, n & 0x80 ~= 0 and ", core" or "")
end

require "eventlog" {
  filter = "evt.type=procexit and thread.ismain=true",
  columns = {
    {"TIME", "evt.rawtime", name = "time", kind = "clock", width = 12},
    {"DURATION", "proc.duration", kind = "time", width = 8},
    {"PID", "proc.pid", kind = "number", width = 7},
    {"USER", "user.name", width = 10},
    {"STATUS", "evt.rawarg.status", name = "status", width = 9, of = status},
    {"COMMAND", "proc.exeline"},
  },
  color = function(row)
    local ns = row["proc.duration"]
    return ns and (ns >= 10e9 and "red" or ns >= 3e9 and "yellow") or nil
  end,
}
