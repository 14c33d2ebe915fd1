-- SPDX-License-Identifier: Apache-2.0
description = "Shows the processes that used the most CPU time, with all their threads; 100 percent is one CPU. Live there is a table for each second. A capture file has one table, and needs switch events (record with --switches). A process that executes another program has a row for each program."
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
