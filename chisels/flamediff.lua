-- SPDX-License-Identifier: Apache-2.0
description = "Draws a flame graph of the second of two captures, in which colours show the change since the first. A red frame has a larger share of all samples than before, a blue frame a smaller one; the stronger the colour, the larger the change. saker profile --diff A B -o FILE.svg, or saker -r A -r B -c flamediff. Record samples with saker profile -w FILE, or saker --sample 99 -w FILE."
short_description = "Draw a flame graph of what changed between two captures"
category = "Performance"

local report = require "report"
local flamesvg = require "flamesvg"
local profilepair = require "profilepair"

local arg = report.args {
  {name = "title", default = "", description = "title of the picture"},
}
local pair

function on_init()
  pair = profilepair.new {source = true}
  return true
end

function on_event() pair.add() end

local legend = {{text = "grew", fill = "hsl(4,85%,68%)"}, {text = "shrank", fill = "hsl(212,75%,68%)"},
                {text = "as before", fill = "hsl(40,12%,88%)"}}

function on_capture_end()
  if pair.is_empty() then return end
  if report.is_json() then return pair.after:print_json() end
  local before, after = pair.before:total(), pair.after:total()
  local root = pair.before:tree {into = pair.after:tree {least = flamesvg.least}, what = "before"}
  local function shares(node)
    return profilepair.share(node.before, before), profilepair.share(node.value, after)
  end
  flamesvg.draw(root, {
    title = arg.title ~= "" and arg.title or "What changed",
    subtitle = ("before: %d samples, %s; after: %d samples, %s"):format(
      pair.before.n, pair.before:show(before), pair.after.n, pair.after:show(after)),
    legend = legend,
    color = function(node)
      local x, y = shares(node)
      local change = math.max(x, y) > 0 and (y - x) / math.max(x, y) or 0
      if math.abs(change) < 0.02 then return "hsl(40,12%,88%)" end
      local strength = math.min(1, math.abs(change))
      return ("hsl(%d,%d%%,%d%%)"):format(change > 0 and 4 or 212, 45 + math.floor(45 * strength),
                                          90 - math.floor(26 * strength))
    end,
    describe = function(node)
      local x, y = shares(node)
      local module = node.frame and node.frame.module ~= "" and node.frame.module .. "\n" or ""
      return ("%s%.2f%% before, %.2f%% after: %+.2f points\n%s before, %s after"):format(
        module, x, y, y - x, pair.before:show(node.before), pair.after:show(node.value))
    end,
  })
end
