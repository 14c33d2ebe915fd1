-- SPDX-License-Identifier: Apache-2.0
-- Chisels that print what there is at one moment: require "snapshot", then snapshot.chisel(SPEC) in
-- place of the callbacks. The moment is the beginning of the capture; with a filter about events, the
-- first event that it means.
--
-- SPEC: columns  {TITLE, name =, kind =, whole =, of = function(entry) -> value} each; entries have
--                the `thread` they are of; most = the width that longer text is cut to
--       entries  function(filter) -> list of entries
--       nothing  a sentence for when there are none
--       cuts     lines end where the terminal does
local report = require "report"

local snapshot = {}

local function shown_column(c)
  local of = c.of or function(entry) return entry.thread.container end
  return {title = c[1], name = c.name or c[2], kind = c.kind, whole = c.whole, most = c.most, of = of}
end

-- A filter for get_thread_table, or nothing.
snapshot.filter_arg = {
  name = "filter", argtype = "filter", default = "",
  description = "Only files that this filter means, such as 'proc.name=nginx and fd.port=80'",
}

-- Each process once, with the files it has open. Its other threads share them.
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

function snapshot.chisel(spec)
  local arg = report.args {snapshot.filter_arg}
  local columns, is_done = {}, false

  local function put()
    local rows = {}
    for _, entry in ipairs(spec.entries(arg.filter)) do
      local row = {}
      for i, c in ipairs(columns) do row[i] = c.of(entry) end
      rows[#rows + 1] = row
    end
    if #rows == 0 and not report.is_json() then
      print(spec.nothing)
    else
      report.put_once(columns, rows, spec.cuts)
    end
    is_done = true
    sysdig.end_capture()
  end

  function on_init()
    for i, c in ipairs(report.with_container(spec.columns)) do columns[i] = shown_column(c) end
    -- What there is needs no events. Live, those of these come anyway: nothing is asked for besides.
    if sysdig.is_live() and arg.filter .. sysdig.get_filter() == "" then
      chisel.set_filter("evt.type=procexit")
    end
    return true
  end

  -- A filter about events says when, not what: there are no events in the table of threads.
  local function is_moment(filter)
    return not pcall(sysdig.get_thread_table_barebone_nofds, filter)
  end

  function on_capture_start()
    if is_moment(arg.filter) then
      chisel.set_filter(arg.filter)
      arg.filter = ""
    elseif sysdig.get_filter() == "" then
      put()
    end
    return true
  end

  function on_event()
    if not is_done then put() end
    return false
  end

  function on_capture_end()
    if not is_done and not report.is_json() then print("no event matches the filter") end
  end
end

return snapshot
