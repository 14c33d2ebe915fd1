-- SPDX-License-Identifier: Apache-2.0
description = "Sampled stacks as folded lines: process, functions from the outermost to the innermost with semicolons between, and nanoseconds, or samples where they stand for no time. _[k] is behind functions of the kernel, _[i] behind inlined ones, _[j] behind code made at run time. flamegraph.pl, inferno and speedscope read it. Needs a capture with samples: saker profile -w FILE, or saker --sample 99 -w FILE."
short_description = "Print sampled stacks as folded lines, for flame graphs"
category = "Performance"

local report = require "report"
local stacks = require "stacks"

local arg = report.args {}

local function put(profile)
  local sums, order, value = {}, {}, profile:value()
  for _, s in ipairs(profile:list()) do
    local line = stacks.folded(s)
    if not sums[line] then order[#order + 1] = line end
    sums[line] = (sums[line] or 0) + value(s)
  end
  for _, line in ipairs(order) do print(("%s %d"):format(line, sums[line])) end
end

stacks.view {source = true, put = put}
