-- SPDX-License-Identifier: Apache-2.0
description = "Shows the files that processes open, one line for each: process, flags, and full path. RESULT is the file descriptor, or the error. MODE is the permissions that the caller requests for a new file."
short_description = "Show files as they are opened, with flags and result"
category = "I/O"

local report = require "report"

local error_name, opened, given

-- Removes the prefix O_ of flags, and O_F_CREATED, which is not from the caller: the kernel reports with it
-- that the file is new.
local function flags(text)
  if not text or text == "<NA>" then return nil end
  if report.is_json() then return (text:gsub("O_", "")) end
  return (text:gsub("|?O_F_CREATED", ""):gsub("^|", ""):gsub("O_", ""))
end

-- Returns the full path; else the path from the kernel or the caller.
local function path(name)
  return name or evt.field(opened) or evt.field(given)
end

require "eventlog" {
  nothing = "no matching files were opened",
  -- A request to io_uring has its result in the completion.
  filter = function(arg)
    return "(evt.type in (open, openat, openat2, creat, open_by_handle_at) and evt.dir=< or " ..
           "evt.type=io_uring_complete and evt.arg.op in (OPENAT, OPENAT2))" ..
           (arg.failed == "yes" and " and evt.failed=true" or "")
  end,
  args = {
    {name = "failed", default = "no", check = report.one_of {"no", "yes"},
     description = "yes: only files that could not be opened (no)"},
    {name = "name", optional = true, description = "only paths that contain this text"},
  },
  init = function()
    error_name = chisel.request_field("evt.res")
    opened, given = chisel.request_field("evt.rawarg.path"), chisel.request_field("evt.rawarg.name")
  end,
  columns = {
    {"TIME", "evt.rawtime", name = "time", kind = "clock", width = 12},
    {"PID", "proc.pid", kind = "number", width = 7},
    {"PROCESS", "proc.name", width = 15},
    {"RESULT", "evt.rawres", name = "result", kind = "result", width = 7, of = function(result)
      if result and result < 0 and not report.is_json() then return evt.field(error_name) end
      return result
    end},
    {"MODE", "evt.rawarg.mode", name = "mode", width = 4, of = function(mode)
      return mode and mode > 0 and ("%04o"):format(mode) or nil
    end},
    {"FLAGS", "evt.arg.flags", name = "flags", width = 26, of = flags},
    {"PATH", "fd.name", name = "path", of = path},
    {nil, "evt.res", name = "error", of = function(name) return name ~= "SUCCESS" and name or nil end},
  },
  wants = function(row, arg)
    return not arg.name or row.path and row.path:find(arg.name, 1, true) ~= nil
  end,
  color = function(row) return row.error and "red" or nil end,
}
