-- SPDX-License-Identifier: Apache-2.0
description = "Lists the open files of all processes at the beginning of the capture. With a filter on the command line, it lists those at the first event that matches: saker -r in.scap -c lsof evt.num=1000"
short_description = "List open files of processes"
category = "System State"

local snapshot = require "snapshot"

snapshot.chisel {
  nothing = "no open files",
  columns = {
    {"COMMAND", name = "proc.name", of = function(e) return e.thread.comm end},
    {"PID", name = "proc.pid", kind = "number", of = function(e) return e.thread.pid end},
    {"USER", name = "user.name", of = function(e) return e.thread.username end},
    {"FD", name = "fd.num", kind = "number", of = function(e) return e.fd end},
    {"TYPE", name = "fd.type", of = function(e) return e.file.type end},
    {"NAME", name = "fd.name", of = function(e) return e.file.name end},
  },
  entries = function(filter)
    return snapshot.files(filter, function() return true end)
  end,
}
