-- SPDX-License-Identifier: Apache-2.0
description = "Shows the containers that used the most CPU time; 100 percent is one CPU. The row 'host' is all processes outside of containers. Live there is a table for each second. A capture file has one table, and needs switch events (record with --switches)."
short_description = "Top containers by CPU usage"
category = "CPU Usage"

require "cputime" {
  no_container = true,
  keys = {require "report".container_key},
  key_of = function(thread) return {thread.container_id} end,
}
