-- SPDX-License-Identifier: Apache-2.0
description = "Lists the events that match the filter of the command line, and saves what the same threads did around them to a smaller capture file. The arguments are that file, and the milliseconds to save before and after each event: saker -r in.scap -c around 'out.scap 500' evt.type=open and evt.failed=true."
short_description = "Save what threads did around matching events"
category = "Misc"

local args = require "excerpt".args
args[1].optional = false

require "eventlog" {
  saves = true,
  columns = {
    {"TIME", "evt.rawtime", name = "time", kind = "clock", width = 12},
    {"TID", "thread.tid", kind = "number", width = 7},
    {"PROCESS", "proc.name", width = 15},
    {"EVENT", "evt.type", width = 10},
    {"ARGUMENTS", "evt.args"},
  },
}
