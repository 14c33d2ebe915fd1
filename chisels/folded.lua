-- SPDX-License-Identifier: Apache-2.0
description = "Prints sampled stacks as folded lines: the process, the functions from the outermost to the innermost with semicolons between them, and nanoseconds, or the number of samples if they stand for no time. The suffix _[k] marks kernel functions, _[i] inlined functions, and _[j] JIT code. A function of an interpreter whose name others have, too, is followed by its file and first line: <lambda> (app.py:12). flamegraph.pl, inferno and speedscope read this format. Needs a capture with samples: saker profile -w FILE, or saker --sample 99 -w FILE."
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
