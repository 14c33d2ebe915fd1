-- SPDX-License-Identifier: Apache-2.0
description = "Processes by the time that they ran, all their threads together: 100 percent is one CPU. Live, of each second; of a capture, of all the time it took, for which it needs switch events (--switches). A process that executes another program has a row for each."
short_description = "Top processes by CPU usage"
category = "CPU Usage"

local with_container

require "cputime" {
  keys = {{"PID", "proc.pid"}, {"PROCESS", "proc.aname[0]", name = "proc.name"}},
  key_of = function(thread)
    if with_container == nil then with_container = sysdig.is_print_container_data() end
    if with_container then return {thread.container, thread.pid, thread.proc} end
    return {thread.pid, thread.proc}
  end,
}
