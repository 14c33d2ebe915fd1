-- SPDX-License-Identifier: Apache-2.0
description = "Containers by the time that their processes ran: 100 percent is one CPU; host is all that runs outside of them. Live, of each second; of a capture, of all the time it took, for which it needs switch events (--switches)."
short_description = "Top containers by CPU usage"
category = "CPU Usage"

require "cputime" {
  no_container = true,
  keys = {require "report".container_key},
  key_of = function(thread) return {thread.container_id} end,
}
