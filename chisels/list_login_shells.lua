-- SPDX-License-Identifier: Apache-2.0
description = "Lists the login shells below which commands were started during the capture: user, times of the first and the last command, number of commands, and the last one. SHELL is the number that spy_users shows, and the value of the field proc.loginshellid. The arguments select shells by the commands below them."
short_description = "List login shells and what was started below them"
category = "Security"

local report = require "report"

local arg = report.args {
  {name = "command", default = "*",
   description = "only shells below which a program with this text in its name was started; *: any"},
  {name = "arguments", default = "", description = "... and with this text in its arguments"},
}

local columns = {
  {"SHELL", "proc.loginshellid", kind = "number"},
  {"USER", "user.name"},
  {"FIRST", name = "first", kind = "clock"},
  {"LAST", name = "last", kind = "clock"},
  {"COMMANDS", name = "commands", kind = "number"},
  {"LAST COMMAND", "proc.exeline", name = "last_command"},
}
local handles, time, name, arguments = {}, nil, nil, nil
local SHELLS_MAX = 10000
local shells, order, n_lost = {}, {}, 0

function on_init()
  columns = report.named(report.with_container(columns))
  for _, c in ipairs(columns) do
    handles[c.name] = c[2] and chisel.request_field(c[2])
  end
  time, name = chisel.request_field("evt.rawtime"), chisel.request_field("proc.name")
  arguments = chisel.request_field("proc.args")
  chisel.set_filter("evt.type in (execve, execveat) and evt.dir=< and evt.failed=false"
    .. " and proc.loginshellid exists")
  return true
end

local function is_wanted()
  if arg.command ~= "*" and not (evt.field(name) or ""):find(arg.command, 1, true) then return false end
  return (evt.field(arguments) or ""):find(arg.arguments, 1, true) ~= nil
end

function on_event()
  local id = evt.field(handles["proc.loginshellid"])
  local shell = shells[id]
  if not shell then
    if #order >= SHELLS_MAX then
      n_lost = n_lost + 1
      return true
    end
    shell = {commands = 0, first = evt.field(time)}
    shells[id], order[#order + 1] = shell, id
    for key, handle in pairs(handles) do shell[key] = evt.field(handle) end
  end
  shell.commands, shell.last = shell.commands + 1, evt.field(time)
  shell.last_command = report.trim(evt.field(handles.last_command) or "")
  shell.is_wanted = shell.is_wanted or is_wanted()
  return true
end

function on_capture_end()
  if n_lost > 0 then
    sysdig.log(("%d commands of shells beyond the first %d are left out"):format(n_lost, SHELLS_MAX), "warning")
  end
  local rows = {}
  table.sort(order)
  for _, id in ipairs(order) do
    if shells[id].is_wanted then
      local row = {}
      for i, c in ipairs(columns) do row[i] = shells[id][c.name] end
      rows[#rows + 1] = row
    end
  end
  report.put_once(columns, rows)
end
