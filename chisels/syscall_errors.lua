-- SPDX-License-Identifier: Apache-2.0
description = "Failed system calls, counted by call, error and path; where the call is about no path, by what it is about. The loader, the C library (locales, character sets) and shells (PATH) look for files in one folder after the other: such look-ups that found nothing are one row; lookups=all shows each. Another field can take the place of the path: by=proc.name, by=proc.pid. Calls that would only have to wait (EAGAIN) and those that a signal interrupted count as well."
short_description = "Top system call errors by call, error and path"
category = "Errors"

local report = require "report"

local LOOKUPS = "(look-ups of libraries, locales, PATH)"

local call, error_name, search_path, by
local paths = {"evt.path", "fd.name", "evt.arg.addr"} -- the address of a bind that failed is in its arguments only
local opens = {open = true, openat = true, openat2 = true, access = true, faccessat = true, faccessat2 = true,
               stat = true, newfstatat = true, statx = true, execve = true, execveat = true, readlink = true}

-- Whether it lies directly in a folder of the PATH of the process.
local function is_in_path(path)
  local folder, list = path:match("^(.*)/[^/]+$"), evt.field(search_path)
  return folder and list and (":" .. list .. ":"):find(":" .. folder .. ":", 1, true)
end

local function is_lookup(kind, path)
  if not opens[kind] then return false end
  return path:find("%.so$") or path:find("%.so%.[%d.]+$") or path:find("/ld%.so%.") -- the loader
    or path:find("/glibc%-hwcaps/")
    or path:find("/locale/") or path:find("/locale%-langpack/") or path:find("/locale%-archive$") or path:find("/gconv/")
    or path:find("/s?bin/[^/]+$") or path:find("^/usr/games/[^/]+$") or is_in_path(path) -- PATH
end

local function path_of()
  for _, handle in ipairs(paths) do
    local path = evt.field(handle)
    if type(path) == "string" and path ~= "" and path ~= "<NA>" then
      return path:match("^%x+%->%x+ (.+)") or path -- a unix socket is its path, whatever the kernel's addresses are
    end
  end
end

local now = {}

local function key(title, i, name)
  return {title, name = name, of = function() return now[i] end}
end

local function what(arg) return arg.by == "path" and "PATH" or arg.by:upper() end

require "toplist" {
  filter = "evt.failed=true",
  keys = {key("CALL", 1, "evt.type"), key("ERROR", 2, "evt.res"), key(what, 3, function(arg) return arg.by end)},
  values = {{"ERRORS", name = "errors", count = true}},
  top = 20,
  interval = 0,
  args = {
    {name = "by", default = "path", description = "the third column: path, or a field (path)",
     check = function(value)
       if value == "path" then return value end
       return report.field(value)
     end},
    {name = "lookups", default = "one", check = report.one_of {"one", "all"},
     description = "all: a row for each path that was looked for (one)"},
  },
  init = function(arg)
    call, error_name = chisel.request_field("evt.type"), chisel.request_field("evt.res")
    search_path = chisel.request_field("proc.env[PATH]")
    for i, name in ipairs(paths) do paths[i] = chisel.request_field(name) end
    by = arg.by ~= "path" and chisel.request_field(arg.by)
    now.folds = arg.lookups == "one"
  end,
  event = function()
    now[1], now[2] = evt.field(call), evt.field(error_name)
    if by then
      now[3] = evt.field(by)
      return true
    end
    now[3] = path_of()
    if now.folds and now[2] == "ENOENT" and now[3] and is_lookup(now[1], now[3]) then now[1], now[3] = nil, LOOKUPS end
    return true
  end,
}
