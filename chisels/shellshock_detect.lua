-- SPDX-License-Identifier: Apache-2.0
description = "Shows programs that are started with an environment variable whose value begins like a function of bash: () {. Attacks on shellshock (CVE-2014-6271) set such a variable."
short_description = "Detect shellshock attacks (CVE-2014-6271)"
category = "Security"

local report = require "report"

-- Returns the first such variable. A patched bash exports functions as BASH_FUNC_ variables.
local function attack(env)
  for variable in (env or ""):gmatch("[^\0]+") do
    if variable:find("^[^=]*=%(%) {") and not variable:find("^BASH_FUNC_") then
      return report.text(variable)
    end
  end
end

require "eventlog" {
  filter = "evt.type in (execve, execveat) and evt.dir=< and evt.arg.env contains '() {'",
  columns = {
    {"TIME", "evt.rawtime", name = "time", kind = "clock", width = 12},
    {"PID", "proc.pid", kind = "number", width = 7},
    {"PROCESS", "proc.name", width = 15},
    {"PARENT", "proc.pname", width = 15},
    {"USER", "user.name", width = 10},
    {"VARIABLE", "evt.rawarg.env", name = "variable", of = attack},
  },
  wants = function(row) return row.variable end,
  color = function() return "red" end,
}
