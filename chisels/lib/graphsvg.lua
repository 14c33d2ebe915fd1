-- SPDX-License-Identifier: Apache-2.0
-- Draws a directed graph as SVG, from left to right: require "graphsvg"(EDGES, OPTS) prints it. The file is
-- self-contained and needs no script. An edge is {from = NAME, to = NAME, label = {LINE, ...}, weight = N, failed = N};
-- those with the same ends are drawn as one. Its width follows the weight, its colour the share of it that failed.
-- opts: title, subtitle. Names are captured, so they can have any bytes.
local report = require "report"
local escape = require "xmltext"
local layers = require "layers"

local NAME_MAX, LINE_MAX = 40, 60
local CHAR, LINE = 6.63, 14 -- of the font: width of a character, height of a line
local PAD, HEAD, FOOT = 16, 72, 40
local BEND, GAP, PORT = 34, 6, 8 -- beside a label: for the bends of an edge, and its text; between edges at a node

-- Looks of edges, by the least share that failed.
local looks = {{0, "#5b616b", "none"}, {1e-9, "#d98e2b", "under 1 %"}, {0.01, "#e4572e", "1 % and more"},
               {0.1, "#c2185b", "10 % and more"}}

local style = [[
svg{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;background:#fff}
#title{font-size:18px;font-weight:600;fill:#1d1f23}#sub,#foot text{font-size:12px;fill:#5b616b}
.n rect{fill:#eef1f5;stroke:#8b93a1}.n text{text-anchor:middle;fill:#15171a}
.n text,.e text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.e path{fill:none;stroke:currentColor;stroke-linecap:round}.e .head{fill:currentColor;stroke:none}.e text{fill:currentColor}
@media (prefers-color-scheme:dark){svg{background:#17181c}#title,.n text{fill:#eceef2}#sub,#foot text{fill:#9aa1ad}
.n rect{fill:#24262c;stroke:#6b7280}.e0{color:#9aa1ad !important}}
]]

local function cut(text, most) return report.cut(report.line(text), most) end
local function width_of(text) return (utf8.len(text) or #text) * CHAR end

local function look_of(edge)
  local share, found = edge.failed / edge.weight, 1
  for i, look in ipairs(looks) do
    if share >= look[1] then found = i end
  end
  return found
end

local function node_of(graph, name)
  local node = graph.by_name[name]
  if not node then
    local text = cut(name, NAME_MAX)
    node = {name = name, text = text, w = width_of(text) + 22, h = 30, to = {}, n_edges = 0}
    graph.by_name[name] = node
    table.insert(graph.nodes, node)
  end
  node.n_edges = node.n_edges + 1
  node.h = math.max(node.h, PORT * node.n_edges + 10)
  return node
end

-- Adds the lines of a label to an edge, which grows.
local function add_label(edge, lines)
  for _, line in ipairs(lines) do
    edge.lines[#edge.lines + 1] = cut(line, LINE_MAX)
    edge.w = math.max(edge.w, width_of(edge.lines[#edge.lines]) + 2 * (BEND + GAP))
  end
  edge.h = #edge.lines * LINE + 6
end

local function graph_of(rows)
  local graph = {by_name = {}, nodes = {}, edges = {}}
  for _, row in ipairs(rows) do
    local from, to = node_of(graph, row.from), node_of(graph, row.to)
    local edge = from.to[to]
    if not edge then
      edge = {from = from, to = to, lines = {}, w = 0, h = 0, weight = 0, failed = 0}
      from.to[to] = edge
      table.insert(graph.edges, edge)
    end
    edge.weight, edge.failed = edge.weight + row.weight, edge.failed + row.failed
    add_label(edge, row.label)
  end
  return graph
end

-- Returns width and height, and moves the graph into the picture.
local function fit(graph, opts)
  local low, high, width = math.huge, -math.huge, math.max(width_of(opts.title) * 1.6, width_of(opts.subtitle), 520)
  local function note(box)
    low, high = math.min(low, box.y - box.h / 2), math.max(high, box.y + box.h / 2)
    width = math.max(width, box.x + box.across)
  end
  for _, edge in ipairs(graph.edges) do
    for _, box in ipairs(edge.boxes) do note(box) end
  end
  graph.left, graph.top = PAD, HEAD - low
  return math.ceil(width + 2 * PAD), math.ceil(high - low + HEAD + FOOT)
end

-- Returns x of the ends of a box.
local function left_of(graph, box) return graph.left + box.x + (box.name and (box.across - box.w) / 2 or 0) end
local function right_of(graph, box) return graph.left + box.x + (box.name and (box.across + box.w) / 2 or box.across) end

-- Returns y where an edge passes a box: below the text of a label, at a node in the order of the boxes beside it.
local function y_of(graph, box, side, beside)
  if box.edge then return graph.top + box.y + box.h / 2 end
  if not side then return graph.top + box.y end
  local boxes, at = box[side], 0
  if not boxes.sorted then
    for i, b in ipairs(boxes) do b.at = i end
    table.sort(boxes, function(p, q)
      if p.y ~= q.y then return p.y < q.y end
      return p.at < q.at
    end)
    boxes.sorted = true
  end
  while boxes[at + 1] ~= beside do at = at + 1 end
  return graph.top + box.y + PORT * (at - (#boxes - 1) / 2)
end

local function curve(x, y, to_x, to_y)
  local middle = (x + to_x) / 2
  return ("C%.1f %.1f %.1f %.1f %.1f %.1f"):format(middle, y, middle, to_y, to_x, to_y)
end

-- Returns the path of an edge from a node to itself, and the place of its head.
local function loop_of(graph, node, label, size)
  local x, y, turn = right_of(graph, node), y_of(graph, node, "right", label), left_of(graph, label) + BEND + GAP
  return ("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f"):format(x, y - 4, turn, y - 24, turn, y + 24, x + size, y + 4), x, y + 4
end

-- Returns the path of an edge, the place of its head, and -1 if that points to the right.
local function path_of(graph, edge, size)
  local boxes = edge.boxes
  local x, y = right_of(graph, boxes[1]), y_of(graph, boxes[1], "right", boxes[2])
  local first_x, first_y = x, y
  if edge.backward then x = x + size end
  local parts = {("M%.1f %.1f"):format(x, y)}
  for i = 2, #boxes - 1 do
    local margin, at = boxes[i].column % 2 == 0 and BEND or 0, y_of(graph, boxes[i]) -- bends are between columns of nodes
    parts[#parts + 1] = curve(x, y, left_of(graph, boxes[i]) + margin, at)
    x, y = right_of(graph, boxes[i]) - margin, at
    parts[#parts + 1] = ("H%.1f"):format(x)
  end
  local last_x, last_y = left_of(graph, boxes[#boxes]), y_of(graph, boxes[#boxes], "left", boxes[#boxes - 1])
  parts[#parts + 1] = curve(x, y, edge.backward and last_x or last_x - size, last_y)
  if edge.backward then return table.concat(parts), first_x, first_y, 1 end
  return table.concat(parts), last_x, last_y, -1
end

local function put_edge(graph, edge)
  local width, label = 1 + math.log(math.max(edge.weight, 1), 10), edge.boxes[2]
  local size, look = 7 + width, look_of(edge)
  local path, x, y, way
  if edge.from == edge.to then
    path, x, y = loop_of(graph, edge.from, label, size)
  else
    path, x, y, way = path_of(graph, edge, size)
  end
  io.write(('<g class="e e%d" style="color:%s"><title>%s</title><path d="%s" stroke-width="%.1f"/>'):format(
    look - 1, looks[look][2], escape(table.concat({report.line(edge.from.name) .. " → " .. report.line(edge.to.name),
    table.unpack(edge.lines)}, "\n")), path, width))
  io.write(('<path class="head" d="M%.1f %.1fl%.1f %.1fv%.1fz"/>'):format(x, y, (way or 1) * size, -size / 2, size))
  local left, top = graph.left + label.x + BEND + GAP, graph.top + label.y - label.h / 2
  for i, line in ipairs(edge.lines) do
    io.write(('<text x="%.1f" y="%.1f">%s</text>'):format(left, top + i * LINE - 4, escape(line)))
  end
  io.write("</g>\n")
end

local function put_node(graph, node)
  local x, y = left_of(graph, node), y_of(graph, node)
  io.write(('<g class="n"><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="6"/>'):format(
    escape(report.line(node.name)), x, y - node.h / 2, node.w, node.h))
  io.write(('<text x="%.1f" y="%.1f">%s</text></g>\n'):format(x + node.w / 2, y + 4, escape(node.text)))
end

local function put_foot(height)
  io.write(('<g id="foot"><text x="%d" y="%d">failed:</text>\n'):format(PAD, height - 14))
  local x = PAD + 46
  for _, look in ipairs(looks) do
    io.write(('<rect x="%d" y="%d" width="16" height="4" fill="%s"/><text x="%d" y="%d">%s</text>\n'):format(
      x, height - 20, look[2], x + 21, height - 14, escape(look[3])))
    x = x + 42 + math.ceil(width_of(look[3]))
  end
  io.write("</g>\n")
end

return function(rows, opts)
  local graph = graph_of(rows)
  layers(graph.nodes, graph.edges)
  local width, height = fit(graph, opts)
  io.write('<?xml version="1.0" encoding="UTF-8"?>\n')
  io.write(('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">\n<style>%s</style>\n'):format(
    width, height, width, height, style))
  io.write(('<text id="title" x="%d" y="30">%s</text>\n<text id="sub" x="%d" y="52">%s</text>\n'):format(
    PAD, escape(opts.title), PAD, escape(opts.subtitle)))
  for _, edge in ipairs(graph.edges) do put_edge(graph, edge) end
  for _, node in ipairs(graph.nodes) do put_node(graph, node) end
  put_foot(height)
  io.write("</svg>\n")
end
