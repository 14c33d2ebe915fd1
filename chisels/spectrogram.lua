-- SPDX-License-Identifier: Apache-2.0
description = "Draws a scrolling heat map of the latency of syscalls. Time goes down, and latency goes to the right, from 100 ns to 10 s. The colour of a cell is the number of calls per second. A filter selects calls, such as fd.type=file; 'evt.is_wait=false' leaves out calls that wait for something, which are at the right."
short_description = "Draw latencies of syscalls as a heat map"
category = "CPU Usage"

local FIRST, DECADES = 2, 8 -- from 10^2 ns (100 ns), over 8 powers of ten
local names = {"100ns", "1us", "10us", "100us", "1ms", "10ms", "100ms", "1s", "10s"}
local latency

local function log10(n) return math.log(n, 10) end

require "heatmap" {
  period = 500,
  filter = "evt.latency>0",
  init = function() latency = chisel.request_field("evt.latency") end,
  cell = function(_, width)
    local at = math.floor((log10(evt.field(latency)) - FIRST) / DECADES * width) + 1
    return math.max(1, math.min(width, at))
  end,
  bounds = function(cell, width)
    local function edge(i) return math.floor(10 ^ (FIRST + i * DECADES / width)) end
    return cell > 1 and edge(cell - 1) or 0, cell < width and edge(cell) or nil
  end,
  marks = function(width)
    local marks = {}
    for i, name in ipairs(names) do marks[i] = {math.floor((i - 1) * width / DECADES) + 1, name} end
    return marks
  end,
}
