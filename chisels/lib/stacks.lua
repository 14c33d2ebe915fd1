-- SPDX-License-Identifier: Apache-2.0
-- Counts sampled stacks, for chisels about profiles: require "stacks".
--
--   stacks.view {source = true, put = function(profile)
--     for _, s in ipairs(profile:list()) do ... end
--   end}
--
-- source: with inlined functions and source lines. build_ids: with profile:build_id(frame.module). own_filter: the
-- chisel sets a filter. stacks_max: distinct stacks at most (100000).
--
-- A stack is {process, pid, thread, root, end_, frames, n, ns}. root is the name of the process with its
-- PID, to show. pid is nil for processes that are counted as one; thread is nil if the thread has the name
-- of the process. frames are outermost first; equal frames are the same table {kind, name, label, func,
-- module, module_name, place, offset, file, line}. kind is u (user), k (kernel), j (JIT code), s (of an
-- interpreter), i (inlined into the frame before) or ? (unknown). Trees join frames of one label: it is the
-- name, with file and first line if several functions of an interpreter have that name.
local report = require "report"
local stacks = {}

-- Distinct stacks, and distinct rows of stacks, at most. Other stacks are counted as one per process.
local STACKS_MAX = 100000
local ROWS_MAX = 100000
local CODE = ">I3" -- the code of a row: three bytes
local CODE_SZ = 3
local OTHER_STACKS = "?\t(other stacks)\t\t0\t0\t\t"
local OTHER_ROWS = "?\t(other functions)\t\t0\t0\t\t"

-- ---- processes ----

-- Processes of one name are separate by PID up to this number; more of them, as in a build, count as one.
local PIDS_MAX = 20
local NAMES_MAX = 10000
local COUNTED_MAX = 100000
local processes_class = {}
processes_class.__index = processes_class

function stacks.processes(by_name)
  return setmetatable({by = {}, n = 0, by_name = by_name}, processes_class)
end

-- Returns name and PID under which a process counts. The PID is nil if it is one of many, or unknown.
function processes_class:of(name, pid)
  local known = self.by[name]
  if not known then
    if self.n >= NAMES_MAX then return self:of_others() end
    self.n = self.n + 1
    known = {n = 0, at = {}}
    self.by[name] = known
  end
  if not pid or self.by_name then return name end
  local at = known.at[pid]
  if not at and known.n < COUNTED_MAX then
    known.n = known.n + 1
    at = known.n
    known.at[pid] = at
  end
  return name, at and at <= PIDS_MAX and pid or nil
end

function processes_class:of_others()
  self.by["(other processes)"] = self.by["(other processes)"] or {n = 0, at = {}}
  return "(other processes)"
end

-- Requests the fields for whose(). In on_init.
function stacks.whose_fields()
  return {name = chisel.request_field("proc.name"), pid = chisel.request_field("sample.pid"),
          tid = chisel.request_field("thread.tid"), comm = chisel.request_field("sample.comm")}
end

-- Replaces the separators of a head in a name.
local function word(name) return name and (name:gsub("[\t\n]", ".")) end

-- Returns process, PID and thread of the current sample; the thread is nil if it has no name of its own.
function processes_class:whose(fields)
  local comm, pid = word(evt.field(fields.comm)) or "?", evt.field(fields.pid)
  local name = word(evt.field(fields.name))
  if not name or name == "<NA>" or pid == evt.field(fields.tid) then name = comm end
  local process, known_pid = self:of(name, pid)
  return process, known_pid, comm ~= name and comm or nil
end

-- Returns the text to show for a process, after all samples are counted.
function processes_class:label(name, pid)
  local n = self.by[name].n
  if n > PIDS_MAX then return ("%s (%d processes)"):format(name, n) end
  return pid and ("%s (%d)"):format(name, pid) or name
end

-- ---- profiles ----

local profile_class = {}
profile_class.__index = profile_class

function stacks.new(opts)
  opts = opts or {}
  if not opts.own_filter then chisel.set_filter("evt.type=sample") end
  return setmetatable({
    build_ids = opts.build_ids and chisel.request_field("frame.buildids"),
    by_module = {}, -- build ids by file, with the option build_ids
    rows = chisel.request_field(opts.source and "stack.rows.source" or "stack.rows"),
    weight = chisel.request_field("sample.weight"),
    whose = stacks.whose_fields(),
    processes = stacks.processes(opts.by_name),
    end_ = chisel.request_field("stack.end"),
    reason = chisel.request_field("sample.reason"),
    wants = opts.wants,
    -- Stacks share most of their rows. So the key of a stack is a string of codes: that of its head
    -- (process, thread and end), and those of its rows, innermost first.
    by = {}, n_stacks = 0, stacks_max = opts.stacks_max or STACKS_MAX,
    n_other = 0, -- samples of stacks beyond these
    codes = {}, texts = {}, -- of heads and rows: code by text, text by number
    parts = {},
    n = 0, ns = 0, first = nil, last = nil, reasons = {},
  }, profile_class)
end

-- Returns the code of a text. With `limit` and that many texts, a new one gets the code of OTHER_ROWS.
local function code_of(self, text, limit)
  local code = self.codes[text]
  if code then return code end
  if limit and #self.texts >= limit then return code_of(self, OTHER_ROWS) end
  self.texts[#self.texts + 1] = text
  code = CODE:pack(#self.texts)
  self.codes[text] = code
  return code
end

-- Returns the text of a head: process, PID, thread and end.
local function head_text(process, pid, thread, end_)
  return ("%s\t%s\t%s\n%s"):format(process, pid or "", thread or "", end_)
end

local function key_of(self, head, rows)
  local parts, n = self.parts, 1
  parts[1] = code_of(self, head)
  for row in rows:gmatch("[^\n]+") do
    n = n + 1
    parts[n] = self.codes[row] or code_of(self, row, ROWS_MAX)
  end
  return table.concat(parts, "", 1, n)
end

local function add_build_ids(self, lines)
  for module, id in (lines or ""):gmatch("([^\t\n]*)\t(%x+)\n?") do self.by_module[module] = id end
end

-- Returns "" if the build id is unknown, or without the option build_ids.
function profile_class:build_id(module) return self.by_module[module] or "" end

-- Returns the rows of the current event. A thread off the CPU is in the scheduler; the kernel leaves that
-- out of the stack of a thread that has waited since before the capture.
local SCHEDULER = "k\t__schedule\t[kernel]\t0\t0\t\t\n"
local function rows_of(self, reason)
  local rows = evt.field(self.rows) or ""
  local lacks = reason == "off_cpu" and rows:find("^k\t") and not rows:find("^k\t__schedule\t")
  return lacks and SCHEDULER .. rows or rows
end

-- Counts the current event. Returns its stack, which is valid after list().
function profile_class:add()
  local reason = evt.field(self.reason) or "?"
  if self.wants and not self.wants(reason) then
    self.has_others = true
    return
  end
  local ns = evt.field(self.weight) or 0
  local process, pid, thread = self.processes:whose(self.whose)
  local head, is_full = head_text(process, pid, thread, evt.field(self.end_) or ""), self.n_stacks >= self.stacks_max
  local key = (not is_full or self.codes[head]) and key_of(self, head, rows_of(self, reason))
  local s = key and self.by[key]
  if not s and is_full then
    key = key_of(self, head_text(process, pid, nil, ""), OTHER_STACKS)
    s = self.by[key]
    self.n_other = self.n_other + 1
  end
  if not s then
    self.n_stacks = self.n_stacks + 1
    s = {key = key, n = 0, ns = 0}
    self.by[key] = s
    if self.build_ids then add_build_ids(self, evt.field(self.build_ids)) end
  end
  s.n, s.ns = s.n + 1, s.ns + ns
  self.n, self.ns = self.n + 1, self.ns + ns
  self.reasons[reason] = (self.reasons[reason] or 0) + 1
  local sec, frac = evt.get_ts()
  self.last = sec * 1000000000 + frac
  self.first = self.first or self.last
  return s
end

-- Logs why there are no samples, and how to record some. off_cpu: samples of threads off the CPU.
local HOW = "no samples%s: record some with \"saker profile%s -w FILE\", or \"saker -w FILE %s\""
local HOW_LIVE = "no samples%s: no matching thread ran or waited, or stacks were not sampled; use \"saker profile%s\", or %s"
local NONE_MATCH = "no samples%s match the filter %s: try without the filter"
function stacks.log_none(off_cpu)
  if sysdig.get_filter() ~= "" and not sysdig.is_live() then
    local what = NONE_MATCH:format(off_cpu and " off the CPU" or "", sysdig.get_filter())
    return sysdig.log(what, "warning")
  end
  local how = sysdig.is_live() and HOW_LIVE or HOW
  sysdig.log(off_cpu and how:format(" off the CPU", " --off-cpu", "--sample-on off_cpu")
             or how:format("", "", "--sample 99"), "warning")
end

-- Whether there are no samples; logs that.
function profile_class:is_empty()
  if self.n > 0 then return false end
  if not self.has_others then stacks.log_none() end
  return true
end

-- ---- frames ----

-- Returns the name to show. A frame without a function is shown as its module.
local function name_of(func, module_name)
  if func ~= "" then return func end
  if not module_name then return "[unknown]" end
  return module_name:sub(1, 1) == "[" and module_name or "[" .. module_name .. "]"
end

-- Makes a frame that has only a name.
local function bare_frame(name)
  return {kind = "?", name = name, label = name, func = "", module = "", place = "0", offset = "0", file = ""}
end

local function parse(row)
  local kind, func, module, place, offset, file, line =
    row:match("^(.)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)$")
  if not kind then return bare_frame("[unknown]") end
  local module_name = module ~= "" and report.base_name(module) or nil
  local name = name_of(func, module_name)
  return {kind = kind, name = name, label = name, func = func, module = module,
          module_name = module_name, place = place, offset = offset, file = file, line = tonumber(line)}
end

local complete = {root = true, none = true, [""] = true}

-- Texts for values of stack.end; the other values are words already.
local reasons = {
  depth = "depth limit", fault = "stack memory not readable", bad_fp = "invalid frame pointer",
  bad_pc = "invalid return address", bad_sp = "invalid stack pointer", compat = "32-bit program",
  deferred = "rest of the stack missing", never = "rest of the stack missing", no_map = "address in no known mapping",
  no_table = "file without unwind table", no_row = "address not in the unwind table",
  bad_rule = "unsupported unwind rule", lost_reg = "register not saved", loop = "loop",
  new = "mappings of the process not known yet", signal = "signal frame incomplete", probe = "uprobe trampoline",
}

-- Returns a frame that stands for missing outer frames; nil if the stack is complete.
local function mark_of(end_)
  if complete[end_] then return nil end
  local mark = bare_frame("[truncated: " .. (reasons[end_] or end_) .. "]")
  mark.is_mark = true
  return mark
end

local function text_of(self, code) return self.texts[(CODE:unpack(code))] end

-- Returns {process, pid, thread, root, end_, mark} of a stack.
local function head_of(self, key)
  local code = key:sub(1, CODE_SZ)
  local head = self.parsed[code]
  if not head then
    local process, pid, thread, end_ = text_of(self, code):match("^(.-)\t(.-)\t(.-)\n(.-)$")
    pid = math.tointeger(tonumber(pid))
    head = {process = process, pid = pid, thread = thread ~= "" and thread or nil,
            root = self.processes:label(process, pid), end_ = end_, mark = mark_of(end_)}
    self.parsed[code] = head
  end
  return head
end

-- Returns the code of the frame at a depth (1: the outermost one), or nil beyond the innermost one. The
-- frame that stands for missing ones has the code of the head.
local function code_at(self, key, depth)
  if head_of(self, key).mark then
    if depth == 1 then return key:sub(1, CODE_SZ) end
    depth = depth - 1
  end
  local at = #key - CODE_SZ * depth
  return at >= CODE_SZ and key:sub(at + 1, at + CODE_SZ) or nil
end

-- ---- functions of one name ----

-- Two frames of one function have the same name, in files of one name.
local function named_key(frame) return frame.name .. "\t" .. (frame.module_name or "") end

-- Returns a key of the function of a frame. Functions of an interpreter often have one name: closures,
-- methods of classes. They differ in their file, or in their first line.
function stacks.function_key(frame)
  if frame.kind ~= "s" then return named_key(frame) .. "\t" end
  return frame.name .. "\t" .. frame.module .. "\t" .. frame.offset
end

-- Returns the functions of interpreters by name, each a list of {key, path, line, number}. line is the first
-- line of the function; of a runtime that has only a number for it, the first line that is in a stack.
local function script_functions(self)
  local by_name, by_key = {}, {}
  for _, text in ipairs(self.texts) do
    local frame = text:find("^s\t") and parse(text)
    if frame and frame.kind == "s" then
      local key = stacks.function_key(frame)
      local f = by_key[key]
      if not f then
        f = {key = key, path = frame.module, number = frame.offset:match("^#.*"),
             line = tonumber(frame.offset:match("^[1-9]%d*$"))}
        f.has_line = f.line ~= nil
        by_key[key] = f
        by_name[frame.name] = by_name[frame.name] or {}
        table.insert(by_name[frame.name], f)
      end
      if not f.has_line and frame.line then f.line = math.min(f.line or frame.line, frame.line) end
    end
  end
  return by_name
end

-- Adds to the functions of a list their places, "b.py:12", with folders where files have one name.
local PARTS_MAX = 3
local function add_places(list)
  for n_parts = 1, PARTS_MAX do
    local path_of = {} -- by end; false: several paths have it
    for _, f in ipairs(list) do
      local part = report.end_of(f.path, n_parts)
      path_of[part] = (path_of[part] or f.path) == f.path and path_of[part] ~= false and f.path
    end
    for _, f in ipairs(list) do
      local part = report.end_of(f.path, n_parts)
      if not f.place and (path_of[part] or n_parts == PARTS_MAX) then
        f.place = part .. (f.line and ":" .. f.line or "")
      end
    end
  end
end

-- Labels the functions of one name: "run (b.py:12)", with the numbers of those that seem to begin in one line.
local function label_twins(labels, name, list)
  local times = {}
  add_places(list)
  for _, f in ipairs(list) do times[f.place] = (times[f.place] or 0) + 1 end
  for _, f in ipairs(list) do
    local number = times[f.place] > 1 and f.number and " " .. f.number or ""
    if f.path ~= "" then labels[f.key] = ("%s (%s%s)"):format(name, f.place, number) end
  end
end

-- Returns the labels, by function, of functions whose name others have, too. Captures are compared by name:
-- lines move.
local function labels_of(self)
  local labels = {}
  if self.processes.by_name then return labels end
  for name, list in pairs(script_functions(self)) do
    if #list > 1 then label_twins(labels, name, list) end
  end
  return labels
end

local function labelled(self, frame)
  if frame.kind == "s" then frame.label = self.shown[stacks.function_key(frame)] or frame.label end
  return frame
end

local function frame_of(self, code)
  local frame = self.parsed[code]
  if not frame then
    frame = labelled(self, parse(text_of(self, code)))
    self.parsed[code] = frame
  end
  return frame.mark or frame
end

local function frames_of(self, key)
  local frames, code = {}, code_at(self, key, 1)
  while code do
    frames[#frames + 1] = frame_of(self, code)
    code = code_at(self, key, #frames + 1)
  end
  return frames
end

-- The metatable of stacks, which makes everything but their numbers on access, to save memory.
local function stack_class(self)
  return {__index = function(s, name)
    if name == "frames" then return frames_of(self, s.key) end
    return head_of(self, s.key)[name]
  end}
end

-- Numbers rows by their text, not by their order of arrival, so that keys can be compared.
local function sort_rows(self)
  local texts, codes = self.texts, {}
  local old = table.move(texts, 1, #texts, 1, {})
  table.sort(texts)
  for i, text in ipairs(texts) do codes[text] = CODE:pack(i) end
  local new = {}
  for i, text in ipairs(old) do new[CODE:pack(i)] = codes[text] end
  self.codes = codes
  return new
end

-- Returns all stacks, the heaviest first. The order is total: the same samples always give the same list.
function profile_class:list()
  if self.sorted then return self.sorted end
  local list, value, class = {}, self:value(), stack_class(self)
  local new = sort_rows(self)
  self.parsed, self.shown = {}, labels_of(self)
  for _, s in pairs(self.by) do
    s.key = s.key:gsub(("."):rep(CODE_SZ), new)
    list[#list + 1] = setmetatable(s, class)
  end
  self.by = nil
  table.sort(list, function(a, b)
    local x, y = value(a), value(b)
    if x ~= y then return x > y end
    return a.key < b.key
  end)
  self.sorted = list
  return list
end

-- ---- what is counted ----

-- The value of a stack is nanoseconds, or the number of samples if these stand for no time.
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

-- Returns the reasons of the samples: "cpu", "off_cpu" or others, separated by commas.
function profile_class:what()
  local names = {}
  for name in pairs(self.reasons) do names[#names + 1] = name end
  table.sort(names)
  return #names > 0 and table.concat(names, ", ") or "cpu"
end

-- ---- trees ----

-- A node is {name, kind, value, before, self, n, frame, by = children by label}. The first level is processes
-- (kind p); below them there may be threads (kind t).
local function new_node(name, kind, frame)
  return {name = name, kind = kind, frame = frame, value = 0, before = 0, self = 0, n = 0, by = {}}
end

-- Returns the children, the heaviest first. A node needs {name, kind, value, by} only.
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

-- Returns the label of a frame among its siblings. Labels are kept while the tree grows; frames are larger.
local function label_of(self, code)
  local label = self.labels[code]
  if not label then
    local frame = self.parsed[code]
    frame = frame and frame.mark or labelled(self, parse(text_of(self, code)))
    label = frame.kind .. frame.label
    self.labels[code] = label
  end
  return label
end

-- Groups the stacks of a list by their frames at a depth: first by process, then by thread if it has a name
-- of its own. Returns groups {label, code, value, n, list}. Stacks that end above are one group without a
-- label.
local function groups_at(self, list, depth, value)
  local groups, by = {}, {}
  for _, s in ipairs(list) do
    local at = s.thread and depth - 1 or depth
    local code = at > 0 and code_at(self, s.key, at) or nil
    local label = depth == 0 and "p" .. s.root or at == 0 and "t" .. s.thread or code and label_of(self, code)
    local g = by[label or ""]
    if not g then
      g = {label = label, code = code, value = 0, n = 0, list = {}}
      by[label or ""] = g
      groups[#groups + 1] = g
    end
    g.value, g.n = g.value + value(s), g.n + s.n
    g.list[#g.list + 1] = s
  end
  return groups
end

local SCHEDULES = "^_*i?o?_?schedule" -- names of the scheduler's functions

-- Returns the key of a stack whose thread waits with one frame for the kernel: the function that waits, which
-- called the scheduler. Keys of other stacks stay.
local function wait_key(self, key)
  local n, in_kernel, waits = #key, 0, nil
  for at = CODE_SZ + 1, n, CODE_SZ do
    local code = key:sub(at, at + CODE_SZ - 1)
    local frame = frame_of(self, code)
    if frame.kind ~= "k" or in_kernel == 0 and frame.name ~= "__schedule" then break end
    in_kernel = in_kernel + 1
    if not waits and not frame.name:find(SCHEDULES) then waits = code end
  end
  if not waits then return key end
  return key:sub(1, CODE_SZ) .. waits .. key:sub(CODE_SZ * (1 + in_kernel) + 1)
end

local function waits_in_one_frame(self, list)
  local shorter = {}
  for i, s in ipairs(list) do
    shorter[i] = setmetatable({key = wait_key(self, s.key), n = s.n, ns = s.ns}, getmetatable(s))
  end
  return shorter
end

-- Returns the tree of stacks. opts: least: leaves out branches with less than this share of all; into: adds
-- to this tree of another profile, without new branches; what: the member to add to, value (the default) or
-- before; short_waits: the kernel is one frame of stacks whose threads wait.
function profile_class:tree(opts)
  opts = opts or {}
  local value, what = self:value(), opts.what or "value"
  local least = self:total() * (opts.least or 0)
  local root = opts.into or new_node("all", "a")
  local function grow(node, list, depth)
    for _, g in ipairs(groups_at(self, list, depth, value)) do
      local c = g.label and node.by[g.label]
      if not g.label then
        if what == "value" then node.self = node.self + g.value end
      elseif c or (not opts.into and g.value >= least) then
        c = c or new_node(g.label:sub(2), g.label:sub(1, 1), g.code and frame_of(self, g.code))
        node.by[g.label] = c
        c[what] = c[what] + g.value
        if what == "value" then c.n = c.n + g.n end
        grow(c, g.list, depth + 1)
      end
      g.list = nil
    end
  end
  local all = self:list()
  if opts.short_waits then all = waits_in_one_frame(self, all) end
  self.labels = {}
  root[what] = root[what] + self:total()
  if what == "value" then root.n = root.n + self.n end
  grow(root, all, 0)
  self.labels = nil
  return root
end

-- Returns the index of the frame to which the time of a stack belongs: the innermost one. A waiting thread
-- is always in the scheduler of the kernel: for it, the function that called the kernel.
local function own_frame(frames)
  local n = #frames
  if n == 0 or frames[n].kind ~= "k" or frames[n].name ~= "__schedule" then return n end
  for i = n, 1, -1 do
    if frames[i].kind ~= "k" and not frames[i].is_mark then return i end
  end
  return n
end

-- Returns the index of the innermost function of an interpreter, which has called the native ones after it.
-- Without any: as own_frame.
local function own_script_frame(frames)
  for i = #frames, 1, -1 do
    if frames[i].kind == "s" then return i end
  end
  return own_frame(frames)
end

-- Returns the number of frames without those of the scheduler, which all waits share.
function stacks.n_to_wait(frames)
  local n = #frames
  if n == 0 or frames[n].kind ~= "k" or frames[n].name ~= "__schedule" then return n end
  while n > 1 and frames[n].kind == "k" and frames[n].name:find(SCHEDULES) do n = n - 1 end
  return n
end

-- Returns all functions of the stacks, a list of {frame, self, total, lines, is_inlined}, and the same by
-- key. A function counts once per stack. lines has the time by source line, of the innermost call if the
-- function is recursive. is_inlined: every call of it is inlined. Frames that stand for missing ones do not
-- count. opts: key: function_key; by default versions of a function in two captures have the same key;
-- native_in_callers: the time of native functions belongs to the interpreter's function that calls them.
function profile_class:functions(opts)
  opts = opts or {}
  local owner = opts.native_in_callers and own_script_frame or own_frame
  local by, list, value = {}, {}, self:value()
  local function row(frame)
    local key = (opts.key or named_key)(frame)
    if not by[key] then
      by[key] = {key = key, frame = frame, self = 0, total = 0, lines = {}, is_inlined = true}
      list[#list + 1] = by[key]
    end
    return by[key]
  end
  local function add(r, frame, v)
    r.total = r.total + v
    if not frame.line then return end
    local line = frame.file .. ":" .. frame.line
    r.lines[line] = (r.lines[line] or 0) + v
  end
  for _, s in ipairs(self:list()) do
    local seen, v, frames = {}, value(s), s.frames
    local own = owner(frames)
    for i = #frames, 1, -1 do
      local frame = frames[i]
      if not frame.is_mark then
        local r = row(frame)
        if not seen[r] then add(r, frame, v) end
        seen[r] = true
        if i == own then r.self = r.self + v end
        if frame.kind ~= "i" then r.is_inlined = false end
      end
    end
  end
  return list, by
end

-- Returns the source line with most of a function's time, as "PATH:LINE"; nil if no line is known.
function stacks.hottest_line(row)
  local best
  for line, v in pairs(row.lines) do
    if not best or v > row.lines[best] or v == row.lines[best] and line < best then best = line end
  end
  return best
end

-- Calls fn(node, depth) for each node, parents first and the heaviest child first. If it returns false, the
-- nodes below are skipped.
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
  return (frame.label:gsub("[;\n]", ":")) .. (suffixes[frame.kind] or "")
end

function stacks.folded(s)
  local parts = {(s.root:gsub("[;\n]", ":"))}
  if s.thread then parts[2] = s.thread:gsub("[;\n]", ":") end
  for _, frame in ipairs(s.frames) do parts[#parts + 1] = stacks.folded_name(frame) end
  return table.concat(parts, ";")
end

-- Prints an object for each stack: the output of most chisels about profiles with -j.
function profile_class:print_json()
  for _, s in ipairs(self:list()) do
    local names = {}
    for i, frame in ipairs(s.frames) do names[i] = frame.label end
    report.print_json {process = s.process, pid = s.pid, thread = s.thread or s.process, stack = #names > 0 and names or nil, samples = s.n,
                       ns = self:is_time() and s.ns or nil}
  end
end

-- ---- chisels ----

-- Sets the callbacks of a chisel that counts samples. opts: put(profile) shows them at the end;
-- put_json(profile) does so with -j (default: profile.print_json); init(), called first, ends the chisel if
-- it returns false; wants(reason) selects samples. The rest is for stacks.new.
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
    -- Another view may follow: free the memory for it.
    profile = nil
    collectgarbage()
  end
end

return stacks
