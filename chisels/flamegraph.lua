-- SPDX-License-Identifier: Apache-2.0
description = "Draws a flame graph of sampled stacks: an SVG file for a browser, which needs no network. A frame stands on its caller and is as wide as its share of all samples. A click on a frame zooms in on it; search highlights frames and shows their share together. Redirect the output to a file, or use saker profile -o FILE.svg. Needs a capture with samples: saker profile -w FILE, or saker --sample 99 -w FILE."
short_description = "Draw a flame graph of sampled stacks"
category = "Performance"

local report = require "report"
local stacks = require "stacks"
local flamesvg = require "flamesvg"

local arg = report.args {
  {name = "title", default = "", description = "title of the picture"},
}

local titles = {cpu = "CPU time", off_cpu = "Time off the CPU", ["cpu, off_cpu"] = "Time on and off the CPU",
                page_fault = "Page faults"}

local function share(value, total) return ("%.2f%%"):format(total > 0 and 100 * value / total or 0) end

local function where(frame)
  if not frame or frame.module == "" then return nil end
  if frame.file == frame.module then return frame.file .. (frame.line and ":" .. frame.line or "") end
  if frame.file ~= "" then
    return ("%s%s in %s"):format(frame.file, frame.line and ":" .. frame.line or "", frame.module)
  end
  return frame.module
end

local function put(profile)
  local root, total = profile:tree {least = flamesvg.least}, profile:total()
  local seconds = (profile.last - profile.first) / 1e9
  local what = profile:what()
  local subtitle = ("%d samples in %.1f s"):format(profile.n, seconds)
  if profile:is_time() then subtitle = subtitle .. ", " .. report.time(total) .. " in total" end
  flamesvg.draw(root, {
    title = arg.title ~= "" and arg.title or titles[what] or "Samples: " .. what,
    subtitle = subtitle,
    describe = function(node)
      local lines = {where(node.frame)}
      lines[#lines + 1] = ("%s, %s of all, %d samples"):format(profile:show(node.value),
        share(node.value, total), node.n)
      if node.self > 0 and node.self < node.value then
        lines[#lines + 1] = ("itself %s, %s"):format(profile:show(node.self), share(node.self, total))
      end
      return table.concat(lines, "\n")
    end,
  })
end

stacks.view {source = true, put = put}
