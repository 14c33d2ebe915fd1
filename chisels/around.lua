-- SPDX-License-Identifier: Apache-2.0
description = "Saves what the same threads did around events that the filter of the command line means, from a capture to a smaller one: saker -r in.scap -c around 'out.scap 500' evt.type=open and evt.failed=true. The events are listed."
short_description = "Save what threads did around some events"
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
