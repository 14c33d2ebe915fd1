-- SPDX-License-Identifier: Apache-2.0
-- Stacks of samples, counted: what chisels about profiles have in common. require "stacks".
--
--   stacks.view {source = true, put = function(profile) -- source: inlined functions and lines
--     for _, s in ipairs(profile:list()) do ... end
--   end}
--
-- A stack is {comm, end_, frames, n, ns}: frames outermost first, each a table that is the same one
-- for the same frame: {kind, name, func, module, module_name, place, offset, file, line}. kind is u
-- (user), k (kernel), j (made at run time), i (inlined into the frame before) or ? (unknown).
local report = require "report"
local stacks = {}

-- Stacks that are kept apart; the rest are put together by process.
local STACKS_MAX = 300000

local profile_class = {}
profile_class.__index = profile_class

function stacks.new(opts)
  opts = opts or {}
  chisel.set_filter("evt.type=sample")
  return setmetatable({
    rows = chisel.request_field(opts.source and "stack.rows.source" or "stack.rows"),
    weight = chisel.request_field("sample.weight"),
    comm = chisel.request_field("sample.comm"),
    end_ = chisel.request_field("stack.end"),
    reason = chisel.request_field("sample.reason"),
    wants = opts.wants,
    by = {}, n_stacks = 0, -- by comm, end and rows
    n = 0, ns = 0, first = nil, last = nil, reasons = {},
  }, profile_class)
end

-- Takes the current event.
function profile_class:add()
  local reason = evt.field(self.reason) or "?"
  if self.wants and not self.wants(reason) then
    self.has_others = true
    return
  end
  local rows, comm = evt.field(self.rows) or "", evt.field(self.comm) or "?"
  local ns, end_ = evt.field(self.weight) or 0, evt.field(self.end_) or ""
  local key = comm .. "\n" .. end_ .. "\n" .. rows
  local s = self.by[key]
  if not s then
    self.n_stacks = self.n_stacks + 1
    if self.n_stacks > STACKS_MAX then
      key, rows = comm, "?\t(other stacks)\t\t0\t0\t\t"
      s = self.by[key]
    end
    if not s then
      s = {key = key, comm = comm, end_ = end_, rows = rows, n = 0, ns = 0}
      self.by[key] = s
    end
  end
  s.n, s.ns = s.n + 1, s.ns + ns
  self.n, self.ns = self.n + 1, self.ns + ns
  self.reasons[reason] = (self.reasons[reason] or 0) + 1
  local sec, frac = evt.get_ts()
  self.last = sec * 1000000000 + frac
  self.first = self.first or self.last
end

-- What to do when there was no sample. off_cpu: of those off the CPU.
local HOW = "no samples%s: record some with \"saker profile%s -w FILE\", or \"saker -w FILE %s\""
local HOW_LIVE = "no samples%s: nothing that was asked for ran, or nothing was to be sampled: that takes \"saker profile%s\", or %s"
local NONE_MEANT = "no samples%s match the filter %s: without it you see whether there are any"
function stacks.tell_none(off_cpu)
  if sysdig.get_filter() ~= "" and not sysdig.is_live() then
    local what = NONE_MEANT:format(off_cpu and " off the CPU" or "", sysdig.get_filter())
    return sysdig.log(what, "warning")
  end
  local how = sysdig.is_live() and HOW_LIVE or HOW
  sysdig.log(off_cpu and how:format(" off the CPU", " --off-cpu", "--sample-on off_cpu")
             or how:format("", "", "--sample 99"), "warning")
end

-- Whether there is nothing to show, which it says.
function profile_class:is_empty()
  if self.n > 0 then return false end
  if not self.has_others then stacks.tell_none() end
  return true
end

-- ---- frames ----

-- What people see. A frame without a name is its module.
local function name_of(func, module_name)
  if func ~= "" then return func end
  if not module_name then return "[unknown]" end
  return module_name:sub(1, 1) == "[" and module_name or "[" .. module_name .. "]"
end

-- One of which only this is known.
local function bare_frame(name)
  return {kind = "?", name = name, func = "", module = "", place = "0", offset = "0", file = ""}
end

local function parse(row)
  local kind, func, module, place, offset, file, line =
    row:match("^(.)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)$")
  if not kind then return bare_frame("[unknown]") end
  local module_name = module ~= "" and module:match("[^/]*$") or nil
  return {kind = kind, name = name_of(func, module_name), func = func, module = module,
          module_name = module_name, place = place, offset = offset, file = file, line = tonumber(line)}
end

local complete = {root = true, none = true, [""] = true}

local function frames_of(self, s)
  local list = {}
  for row in s.rows:gmatch("[^\n]+") do
    local frame = self.parsed[row]
    if not frame then
      frame = parse(row)
      self.parsed[row] = frame
    end
    list[#list + 1] = frame
  end
  local frames, n = {}, #list
  if not complete[s.end_] then
    -- The outer frames are missing: what is above is not what the process began with.
    local key = "end " .. s.end_
    local mark = self.parsed[key]
    if not mark then
      mark = bare_frame("[truncated: " .. s.end_ .. "]")
      mark.is_mark = true
      self.parsed[key] = mark
    end
    frames[1] = mark
  end
  local at = #frames
  for i = n, 1, -1 do frames[at + n - i + 1] = list[i] end
  return frames
end

-- All stacks, the heaviest first; no two are alike in all that decides, so that the same samples
-- always come in the same order.
function profile_class:list()
  if self.sorted then return self.sorted end
  self.parsed = self.parsed or {}
  local list, value = {}, self:value()
  for _, s in pairs(self.by) do
    s.frames = s.frames or frames_of(self, s)
    list[#list + 1] = s
  end
  table.sort(list, function(a, b)
    local x, y = value(a), value(b)
    if x ~= y then return x > y end
    if a.comm ~= b.comm then return a.comm < b.comm end
    if a.rows ~= b.rows then return a.rows < b.rows end
    return a.key < b.key
  end)
  self.sorted = list
  return list
end

-- ---- what is counted ----

-- Nanoseconds, or the samples themselves where they stand for no time.
function profile_class:is_time() return self.ns > 0 end
function profile_class:unit() return self:is_time() and "nanoseconds" or "count" end
function profile_class:total() return self:is_time() and self.ns or self.n end
function profile_class:value()
  if self:is_time() then return function(s) return s.ns end end
  return function(s) return s.n end
end
function profile_class:show(value)
  if self:is_time() then return report.time(value) end
  return ("%d"):format(value)
end

-- "cpu", "off_cpu", or what else all samples are of.
function profile_class:what()
  local names = {}
  for name in pairs(self.reasons) do names[#names + 1] = name end
  table.sort(names)
  return #names > 0 and table.concat(names, ", ") or "cpu"
end

-- ---- trees ----

-- A node is {name, kind, value, self, n, frame, by = table}; the first level is the processes.
local function child_of(node, name, kind, frame)
  local key = kind .. name
  local c = node.by[key]
  if not c then
    c = {name = name, kind = kind, frame = frame, value = 0, before = 0, self = 0, n = 0, by = {}}
    node.by[key] = c
  end
  return c
end

-- The heaviest first. Any nodes of {name, kind, value, by} will do.
function stacks.children(node)
  if node.below then return node.below end
  local list = {}
  for _, c in pairs(node.by) do list[#list + 1] = c end
  table.sort(list, function(a, b)
    if a.value ~= b.value then return a.value > b.value end
    if a.name ~= b.name then return a.name < b.name end
    return a.kind < b.kind
  end)
  node.below = list
  return list
end

-- into: a tree that there is, for one with the weights of two profiles; what: the member that they
-- are added to, value or before.
function profile_class:tree(into, what)
  what = what or "value"
  local value = self:value()
  local root = into or {name = "all", kind = "a", value = 0, before = 0, self = 0, n = 0, by = {}}
  local function add(node, s)
    node[what] = node[what] + value(s)
    if what == "value" then node.n = node.n + s.n end
  end
  for _, s in ipairs(self:list()) do
    add(root, s)
    local at = child_of(root, s.comm, "p", nil)
    add(at, s)
    for _, frame in ipairs(s.frames) do
      at = child_of(at, frame.name, frame.kind, frame)
      add(at, s)
    end
    if what == "value" then at.self = at.self + value(s) end
  end
  return root
end

-- The frame that the time of a stack is its own: the innermost one. Who waits is in the kernel's
-- scheduler, whatever for: there it is the function that called the kernel.
local function own_frame(frames)
  local n = #frames
  if n == 0 or frames[n].kind ~= "k" or frames[n].name ~= "__schedule" then return n end
  for i = n, 1, -1 do
    if frames[i].kind ~= "k" and not frames[i].is_mark then return i end
  end
  return n
end

-- All functions of the stacks: rows {frame, self, total}, a function counting once in a stack. It is
-- the same one in files of the same name. Marks of what is missing are no functions.
function profile_class:functions()
  local by, list, value = {}, {}, self:value()
  local function row(frame)
    local key = frame.name .. "\t" .. (frame.module_name or "")
    if not by[key] then
      by[key] = {key = key, frame = frame, self = 0, total = 0}
      list[#list + 1] = by[key]
    end
    return by[key]
  end
  for _, s in ipairs(self:list()) do
    local seen, v, own = {}, value(s), own_frame(s.frames)
    for i, frame in ipairs(s.frames) do
      if not frame.is_mark then
        local r = row(frame)
        if not seen[r] then r.total = r.total + v end
        seen[r] = true
        if i == own then r.self = r.self + v end
      end
    end
  end
  return list, by
end

-- Calls fn(node, depth) for each node, children from the left; those for which it returns false are
-- left out with all that is below.
function stacks.each(root, fn)
  local todo, depths = {root}, {0}
  while #todo > 0 do
    local node, depth = table.remove(todo), table.remove(depths)
    if fn(node, depth) ~= false then
      local list = stacks.children(node)
      for i = #list, 1, -1 do
        todo[#todo + 1], depths[#depths + 1] = list[i], depth + 1
      end
    end
  end
end

-- ---- text ----

local suffixes = {k = "_[k]", i = "_[i]", j = "_[j]"}

function stacks.folded_name(frame)
  return (frame.name:gsub("[;\n]", ":")) .. (suffixes[frame.kind] or "")
end

function stacks.folded(s)
  local parts = {(s.comm:gsub("[;\n]", ":"))}
  for i, frame in ipairs(s.frames) do parts[i + 1] = stacks.folded_name(frame) end
  return table.concat(parts, ";")
end

-- With -j most chisels about profiles print this: an object for each stack.
function profile_class:print_json()
  for _, s in ipairs(self:list()) do
    local names = {}
    for i, frame in ipairs(s.frames) do names[i] = frame.name end
    report.print_json {process = s.comm, stack = #names > 0 and names or nil, samples = s.n,
                       ns = self:is_time() and s.ns or nil}
  end
end

-- ---- chisels ----

-- Defines the callbacks of a chisel that counts the samples, and at the end shows what they are
-- with put(profile), with put_json(profile) if JSON is asked for. init, if there is one, is called
-- first: false ends the chisel. wants(reason), if there is one, says which samples count. All else is
-- for stacks.new.
function stacks.view(opts)
  local profile
  function on_init()
    if opts.init and not opts.init() then return false end
    profile = stacks.new(opts)
    return true
  end
  function on_event() profile:add() end
  function on_capture_end()
    if profile:is_empty() then return end
    local put = report.is_json() and (opts.put_json or profile.print_json) or opts.put
    put(profile)
  end
end

return stacks
