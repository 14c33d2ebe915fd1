-- SPDX-License-Identifier: Apache-2.0
-- Lays out a directed graph in columns, such that edges go to the right where they can: require "layers"(NODES, EDGES).
-- A node is {w, h}, its size; an edge is {from = NODE, to = NODE, w, h}, the size of its label, below which it passes. A
-- node gets x, the left end of its column, and y, its centre. An edge gets boxes, those that it passes from left to
-- right: a node, its label, one for each column between, a node; each has x, y and across, the width of its column, and
-- left and right, the boxes to which edges lead. An edge that closes a cycle goes to the left: its backward is true. One
-- from a node to itself has the node and the label.
-- The same graph always has the same layout: nothing depends on the order of tables.
local SWEEPS = 8
local SPACE = 14 -- between boxes of a column

-- ---- columns: nodes in odd ones, labels in even ones ----

local function visit(node)
  node.open = true
  for _, edge in ipairs(node.leaving) do
    if edge.to.open then
      edge.backward = edge.to ~= node
    elseif edge.to.open == nil then
      visit(edge.to)
    end
  end
  node.open = false
end

-- Marks the edges that close cycles, seen from nodes that nothing calls.
local function find_cycles(nodes, edges)
  for _, node in ipairs(nodes) do node.leaving, node.before, node.open = {}, {}, nil end
  for _, edge in ipairs(edges) do
    table.insert(edge.from.leaving, edge)
    if edge.to ~= edge.from then edge.to.is_called = true end
  end
  for _, node in ipairs(nodes) do
    if not node.is_called then visit(node) end
  end
  for _, node in ipairs(nodes) do
    if node.open == nil then visit(node) end
  end
end

local function ends_of(edge)
  if edge.backward then return edge.to, edge.from end
  return edge.from, edge.to
end

local function column_of(node)
  if not node.column then
    node.column = 1
    for _, left in ipairs(node.before) do node.column = math.max(node.column, column_of(left) + 2) end
  end
  return node.column
end

local function add_box(columns, box, column)
  columns[column] = columns[column] or {}
  table.insert(columns[column], box)
  box.column, box.left, box.right = column, {}, {}
  return box
end

local function link(edge, box)
  local last = edge.boxes[#edge.boxes]
  if last then
    table.insert(last.right, box)
    table.insert(box.left, last)
  end
  table.insert(edge.boxes, box)
end

-- Returns the columns, lists of boxes.
local function columns_of(nodes, edges)
  local columns = {}
  for _, edge in ipairs(edges) do
    local left, right = ends_of(edge)
    if left ~= right then table.insert(right.before, left) end
  end
  for _, node in ipairs(nodes) do add_box(columns, node, column_of(node)) end
  for _, edge in ipairs(edges) do
    local left, right = ends_of(edge)
    edge.boxes = {}
    link(edge, left)
    link(edge, add_box(columns, {w = edge.w, h = edge.h, edge = edge}, left.column + 1))
    for column = left.column + 2, right.column - 1 do link(edge, add_box(columns, {w = 0, h = 0}, column)) end
    if left ~= right then link(edge, right) end
  end
  return columns
end

-- ---- order and places ----

-- Returns the mean of of(box); nil without boxes.
local function mean(boxes, of)
  local sum = 0
  for _, box in ipairs(boxes) do sum = sum + of(box) end
  return #boxes > 0 and sum / #boxes or nil
end

local function place_of(box) return box.place end

-- Returns where edges pass.
local function passage_of(box) return box.edge and box.y + box.h / 2 or box.y end

-- Sorts a column by the mean place of its neighbours on one side, so that few edges cross.
local function sort_column(boxes, side)
  for i, box in ipairs(boxes) do box.at = i end
  for _, box in ipairs(boxes) do box.wanted = mean(box[side], place_of) or box.place end
  table.sort(boxes, function(a, b)
    if a.wanted ~= b.wanted then return a.wanted < b.wanted end
    return a.at < b.at
  end)
  for i, box in ipairs(boxes) do box.place = i / #boxes end
end

-- Calls f(column, side of the neighbours that are placed) from left to right, then from right to left, and so on.
local function sweep(columns, f)
  for i = 1, SWEEPS do
    local first, last, step = 1, #columns, 1
    if i % 2 == 0 then first, last, step = #columns, 1, -1 end
    for column = first, last, step do f(columns[column], step == 1 and "left" or "right") end
  end
end

-- Places the boxes of a column as close to the mean of their neighbours as their order and size allow: groups of boxes
-- that would overlap move together.
local function place_column(boxes, side)
  local groups, offset = {}, 0
  for i, box in ipairs(boxes) do
    if i > 1 then offset = offset + (boxes[i - 1].h + box.h) / 2 + SPACE end
    box.offset = offset
    local wanted = mean(box[side], passage_of)
    local group = {sum = (wanted and wanted - passage_of(box) + box.y or box.y) - offset, n = 1}
    while groups[1] and groups[#groups].sum / groups[#groups].n > group.sum / group.n do
      local last = table.remove(groups)
      group = {sum = group.sum + last.sum, n = group.n + last.n}
    end
    groups[#groups + 1] = group
  end
  local i = 1
  for _, group in ipairs(groups) do
    for _ = 1, group.n do
      boxes[i].y = group.sum / group.n + boxes[i].offset
      i = i + 1
    end
  end
end

local function place_columns(columns)
  local x = 0
  for _, boxes in ipairs(columns) do
    local across = 0
    for i, box in ipairs(boxes) do
      across = math.max(across, box.w)
      box.x, box.y, box.place = x, 0, i / #boxes
    end
    for _, box in ipairs(boxes) do box.across = across end
    x = x + across
  end
end

return function(nodes, edges)
  find_cycles(nodes, edges)
  local columns = columns_of(nodes, edges)
  place_columns(columns)
  sweep(columns, sort_column)
  sweep(columns, place_column)
end
