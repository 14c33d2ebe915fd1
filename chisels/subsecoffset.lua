-- SPDX-License-Identifier: Apache-2.0
description = "Draws a scrolling heat map of when in each second syscalls end. A row is a second, or another number of milliseconds, and each call is at its place in it. Regular activity, such as that of timers, makes columns. The colour of a cell is the number of calls per second."
short_description = "Draw when in each second calls happen"
category = "CPU Usage"

require "heatmap" {
  period = 1000,
  filter = "syscall.type exists and evt.dir=<",
  cell = function(now, width, period_ns) return now % period_ns * width // period_ns + 1 end,
  bounds = function(cell, width, period_ns)
    return (cell - 1) * period_ns // width, cell * period_ns // width
  end,
  marks = function(width, period_ns)
    local marks, n = {}, 5
    for i = 0, n do
      marks[i + 1] = {width * i // n + 1, ("%gms"):format(period_ns * i / n / 1000000)}
    end
    return marks
  end,
}
