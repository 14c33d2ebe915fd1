-- SPDX-License-Identifier: Apache-2.0
description = "Counts failed syscalls by call, error and path; a call without a path counts by its file, process or address. The loader, the C library (locales, character sets) and shells (PATH) look for files in one folder after the other. Such failed look-ups are together in one row, but a library or a program that was found in no folder has a row of its own; lookups=all shows each path. by=FIELD counts by another field in place of the path, as in by=proc.name. Calls that would block (EAGAIN) and those that a signal interrupted are included."
short_description = "Top syscall errors by call, error and path"
category = "Errors"

local report = require "report"

local LOOKUPS = "(look-ups of libraries, locales, PATH)"

local call, error_name, search_path, pid, by
local paths = {"evt.path", "fd.name", "evt.arg.addr"} -- a failed bind has its address in its arguments only
local OPENS = {"open", "openat", "openat2", "access", "faccessat", "faccessat2", "stat", "newfstatat", "statx", "execve",
               "execveat", "readlink"}
local opens = {}
for _, name in ipairs(OPENS) do opens[name] = true end

-- Whether the path is directly in a folder of the PATH of the process.
local function is_in_path(path)
  local folder, list = path:match("^(.*)/[^/]+$"), evt.field(search_path)
  return folder and list and (":" .. list .. ":"):find(":" .. folder .. ":", 1, true)
end

local function is_library(path) return path:find("%.so$") or path:find("%.so%.[%d.]+$") end

local function is_program(path) -- PATH
  return path:find("/s?bin/[^/]+$") or path:find("^/usr/games/[^/]+$") or is_in_path(path)
end

local CPU_FOLDERS = {tls = true, haswell = true, avx512_1 = true, x86_64 = true}

-- Whether the loader or the C library looks this file up, and works without it.
local function is_optional(path)
  return path:find("/ld%.so%.") or path:find("/glibc%-hwcaps/[^/]*$")
    or CPU_FOLDERS[report.base_name(path)] and path:find("/lib", 1, true)
    or path:find("/locale/") or path:find("/locale%-langpack/") or path:find("/locale%-archive$") or path:find("/gconv/")
end

-- Failed look-ups by process and file name, until the file is found: [PID .. name] = {name, call, n}.
local sought, n_sought, n_folded = {}, 0, 0
local SOUGHT_MAX = 4096

local function sought_key(path) return ("%s/%s"):format(evt.field(pid), report.base_name(path)) end

-- Adds a failed look-up.
local function seek(kind, path)
  local key = sought_key(path)
  local it = sought[key]
  if not it and (is_optional(path) or n_sought == SOUGHT_MAX) then
    n_folded = n_folded + 1
    return
  end
  if not it then
    it, n_sought = {name = report.base_name(path), call = kind, n = 0}, n_sought + 1
    sought[key] = it
  end
  it.n = it.n + 1
end

-- Removes the look-ups of a file that is found.
local function find(path)
  local key = sought_key(path)
  local it = sought[key]
  if it then
    n_folded, n_sought, sought[key] = n_folded + it.n, n_sought - 1, nil
  end
end

local function path_of()
  for _, handle in ipairs(paths) do
    local path = evt.field(handle)
    if type(path) == "string" and path ~= "" and path ~= "<NA>" then
      return path:match("^%x+%->%x+ (.+)") or path -- a unix socket: its path, without the addresses of the kernel
    end
  end
end

local now = {}

local function key(title, i, name)
  return {title, name = name, of = function() return now[i] end}
end

local function what(arg) return arg.by == "path" and "PATH" or arg.by:upper() end

require "toplist" {
  -- Successful opens, too: they end the search for a file through several folders.
  filter = function(arg)
    if arg.by ~= "path" or arg.lookups == "all" then return "evt.failed=true" end
    return "evt.failed=true or (evt.res=SUCCESS and evt.type in (" .. table.concat(OPENS, ", ") .. "))"
  end,
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
     description = "all: a row for each path that was looked up (one)"},
  },
  init = function(arg)
    call, error_name = chisel.request_field("evt.type"), chisel.request_field("evt.res")
    search_path, pid = chisel.request_field("proc.env[PATH]"), chisel.request_field("proc.pid")
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
    if now[2] == "SUCCESS" then
      if now[3] then find(now[3]) end
      return false
    end
    if now.folds and now[2] == "ENOENT" and now[3] and opens[now[1]]
       and (is_library(now[3]) or is_program(now[3]) or is_optional(now[3])) then
      seek(now[1], now[3])
      return false
    end
    return true
  end,
  settle = function(add)
    if n_folded > 0 then add({nil, "ENOENT", LOOKUPS}, 1, n_folded) end
    for _, it in pairs(sought) do add({it.call, "ENOENT", it.name .. " (found nowhere)"}, 1, it.n) end
    sought, n_sought, n_folded = {}, 0, 0
  end,
}
