-- SPDX-License-Identifier: Apache-2.0
description = "Shows the commands that are started below a shell, and the directories that shells change to. The indent of a command is its depth below the login shell; commands that the login shell itself started are bold. The login shell is the topmost shell among the ancestors of a process."
short_description = "Show what users do interactively"
category = "Security"

local report = require "report"

local shells = "(bash, sh, dash, zsh, ksh, mksh, fish, csh, tcsh, ash)"

local ancestors, DEEPEST = {}, 64 -- a capture can have loops of parents
local shell_field, pid_field, dir_field, cmd_field

-- Returns the depth of the current process below its login shell.
local function depth()
  local shell = evt.field(shell_field)
  if shell == evt.field(pid_field) then return 0 end
  for n = 1, DEEPEST do
    ancestors[n] = ancestors[n] or chisel.request_field(("proc.apid[%d]"):format(n))
    local pid = evt.field(ancestors[n])
    if pid == shell then return n end
    if pid == nil then break end
  end
  return 1
end

local below

-- Returns the command as it was typed, as far as events show it.
local function command()
  local text = evt.get_type() == "chdir" and "cd " .. (evt.field(dir_field) or "-")
    or evt.field(cmd_field) or "-"
  return report.is_json() and text or ("   "):rep(below - 1) .. text
end

require "eventlog" {
  args = {{name = "max_depth", argtype = "int", default = 0, check = report.whole(0),
           description = "only commands down to this depth below the login shell; 1: those that it started itself; 0: all (0)"}},
  init = function()
    shell_field, pid_field = chisel.request_field("proc.loginshellid"), chisel.request_field("proc.pid")
    dir_field, cmd_field = chisel.request_field("evt.arg.path"), chisel.request_field("proc.exeline")
  end,
  filter = "proc.loginshellid exists and evt.dir=< and evt.failed=false and (evt.type in (execve, execveat)"
    .. " or (evt.type=chdir and proc.name in " .. shells .. "))",
  columns = {
    {"TIME", "evt.rawtime", name = "time", kind = "clock", width = 12},
    {"USER", "user.name", width = 10},
    {"SHELL", "proc.loginshellid", kind = "number", width = 7},
    {"PID", "proc.pid", kind = "number", width = 7},
    {false, "proc.pid", name = "depth", of = function()
      below = depth()
      return below
    end},
    {"COMMAND", "proc.exeline", name = "command", of = command},
  },
  wants = function(row, arg) return arg.max_depth == 0 or row.depth <= arg.max_depth end,
  color = function(row) return row.depth <= 1 and "bold" or nil end,
}
