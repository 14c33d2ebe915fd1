-- SPDX-License-Identifier: Apache-2.0
description = "Shows sampled stacks as a tree of calls. Each line is a function with its share of the time of all samples, below the function that called it. Branches of less than one percent are left out. Functions that take all the time of their caller are on the line of the caller. Where a thread waits, the kernel is one line: the function that waits. Needs a capture with samples: saker profile -w FILE, or saker --sample 99 -w FILE."
short_description = "Show sampled stacks as a tree of calls"
category = "Performance"

local report = require "report"
local stacks = require "stacks"

local arg = report.args {
  {name = "least", default = 1, description = "leave out branches of less than this many percent (1)",
   check = function(text)
     local n = tonumber(text)
     return n and n >= 0 and n <= 100 and n or nil, "a number from 0 to 100 is needed"
   end},
  {name = "depth", default = 60, argtype = "int", check = report.whole(1), description = "levels of the tree, at most (60)"},
  {name = "kernel", default = "short", check = report.one_of {"short", "all"},
   description = "functions of the kernel below a wait: short for the one that waits, or all (short)"},
}

local suffixes = {k = " [kernel]", j = " [jit]", t = " [thread]"}
local function name_of(node) return node.name .. (suffixes[node.kind] or "") end

-- Returns the last node of a chain in which each function takes all the time of its caller, and the text of
-- the chain. A recursive function is one link.
local function chain(node)
  local names, times = {name_of(node)}, {1}
  while node.kind ~= "p" and node.kind ~= "t" do
    local list, last = stacks.children(node), #names
    if #list ~= 1 or list[1].value ~= node.value then break end
    local name = name_of(list[1])
    if name == names[last] then
      times[last] = times[last] + 1
    elseif last == 6 then
      break
    else
      names[last + 1], times[last + 1] = name, 1
    end
    node = list[1]
  end
  for i, n in ipairs(times) do
    if n > 1 then names[i] = ("%s (%d times)"):format(names[i], n) end
  end
  return node, table.concat(names, " > ")
end

-- Cuts a line at the width of the terminal.
local function put_line(width, text)
  print(width > 0 and report.cut(text, width) or text)
end

local function put(profile)
  local root = profile:tree {least = arg.least / 100, short_waits = arg.kernel == "short"}
  local all, least = root.value, root.value * arg.least / 100
  local width = sysdig.is_tty() and sysdig.get_terminal_info().width or 0
  put_line(width, ("%6s %9s  %s"):format("TOTAL%", "TOTAL", "CALLS"))
  local function below(node, depth)
    for _, c in ipairs(stacks.children(node)) do
      if c.value < least or depth > arg.depth then break end
      local last, text = chain(c)
      put_line(width, ("%5.1f%% %9s  %s%s"):format(100 * c.value / all, profile:show(c.value),
                                                 ("  "):rep(depth), text))
      below(last, depth + 1)
    end
  end
  below(root, 0)
end

stacks.view {put = put}
