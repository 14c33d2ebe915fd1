-- SPDX-License-Identifier: Apache-2.0
-- Chisels that list the state at one moment, such as lsof and ps: require "snapshot", then
-- snapshot.chisel(SPEC), which sets the callbacks. The moment is the beginning of the capture; with a
-- filter about events, the first event that matches.
--
-- SPEC: columns  list of {TITLE, name =, kind =, whole =, most =, of =}: of(entry) returns the value,
--                most is the width to which longer text is cut, and the rest is as for report.put_once
--       entries  function(filter): returns the entries, each with its `thread`
--       nothing  sentence for an empty list
--       cuts     true: lines are cut to the width of the terminal
local report = require "report"

local snapshot = {}

local function shown_column(c)
  local of = c.of or function(entry) return entry.thread.container end
  return {title = c[1], name = c.name or c[2], kind = c.kind, whole = c.whole, most = c.most, of = of}
end

-- The argument `filter`, for get_thread_table.
snapshot.filter_arg = {
  name = "filter", argtype = "filter", default = "",
  description = "only entries that match this filter, such as 'proc.name=nginx and fd.port=80'",
}

-- Returns an entry for each open file of each process. Threads of a process share their files.
function snapshot.files(filter, wants)
  local only = "thread.ismain=true"
  if filter ~= "" then only = ("(%s) and %s"):format(filter, only) end
  local entries = {}
  for _, thread in pairs(sysdig.get_thread_table(only)) do
    for number, file in pairs(thread.fdtable) do
      if wants(file) then entries[#entries + 1] = {thread = thread, fd = number, file = file} end
    end
  end
  return entries
end

local Snapshot = {}
Snapshot.__index = Snapshot

function Snapshot:init()
  local columns = report.with_container(self.spec.columns)
  for i, c in ipairs(columns) do self.columns[i] = shown_column(c) end
  -- The list needs no events. Live without a filter, rare events are captured, not all.
  if sysdig.is_live() and self.arg.filter .. sysdig.get_filter() == "" then
    chisel.set_filter("evt.type=procexit")
  end
end

function Snapshot:put()
  local spec, rows = self.spec, {}
  for _, entry in ipairs(spec.entries(self.arg.filter)) do
    local row = {}
    for i, c in ipairs(self.columns) do row[i] = c.of(entry) end
    rows[#rows + 1] = row
  end
  if #rows == 0 and not report.is_json() then
    print(spec.nothing)
  else
    report.put_once(self.columns, rows, spec.cuts)
  end
  self.is_done = true
  sysdig.end_capture()
end

-- Whether the filter is about events: the table of threads has none, so it selects the moment.
local function is_moment(filter)
  return not pcall(sysdig.get_thread_table_barebone_nofds, filter)
end

function Snapshot:start()
  local arg = self.arg
  if is_moment(arg.filter) then
    chisel.set_filter(arg.filter)
    arg.filter = ""
  elseif sysdig.get_filter() == "" then
    self:put()
  end
end

function snapshot.chisel(spec)
  local list = setmetatable({spec = spec, arg = report.args {snapshot.filter_arg}, columns = {}, is_done = false},
                            Snapshot)

  function on_init()
    list:init()
    return true
  end

  function on_capture_start()
    list:start()
    return true
  end

  function on_event()
    if not list.is_done then list:put() end
    return false
  end

  function on_capture_end()
    if not list.is_done and not report.is_json() then print("no event matches the filter") end
  end
end

return snapshot
