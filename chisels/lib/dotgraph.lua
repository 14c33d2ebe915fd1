-- SPDX-License-Identifier: Apache-2.0
-- Directed graphs in the language of Graphviz: require "dotgraph"(EDGES, CAPTION) prints one. An edge is {from = NAME,
-- to = NAME, label = {LINE, ...}, weight = N, failed = N}, caption a text below or nil; names are captured, so they can have any bytes.
local report = require "report"

local NAME_MAX = 80

-- Returns lines in quotes that are shown as they are: backslashes, quotes and references (&lt;) are no escapes.
local function quote(lines)
  local quoted = {}
  for i, text in ipairs(lines) do quoted[i] = report.line(text):gsub('[\\"]', "\\%0"):gsub("&", "&amp;") end
  return '"' .. table.concat(quoted, "\\n") .. '"'
end

local function label_of(name) return quote {report.cut(report.line(name), NAME_MAX)} end

-- Prints each node once, in the order of the edges. Returns the number of the node by name.
local function put_nodes(edges)
  local numbers, n = {}, 0
  for _, edge in ipairs(edges) do
    for _, name in ipairs {edge.from, edge.to} do
      if not numbers[name] then
        n = n + 1
        numbers[name] = n
        print(("  n%d [label=%s];"):format(n, label_of(name)))
      end
    end
  end
  return numbers
end

return function(edges, caption)
  print("digraph saker {")
  print('  rankdir=LR; node [shape=box, style=rounded, fontname="sans-serif"]; edge [fontname="sans-serif", fontsize=10];')
  local numbers = put_nodes(edges)
  for _, edge in ipairs(edges) do
    print(("  n%d -> n%d [label=%s, penwidth=%.1f%s];"):format(numbers[edge.from], numbers[edge.to], quote(edge.label),
      1 + math.log(math.max(edge.weight, 1), 10), edge.failed > 0 and ', color="#c00000", fontcolor="#c00000"' or ""))
  end
  if caption then print(("  label=%s;"):format(quote {caption})) end
  print("}")
end
