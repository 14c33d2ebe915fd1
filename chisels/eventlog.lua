-- SPDX-License-Identifier: Apache-2.0
-- A chisel that prints a line for each event: require "eventlog", then eventlog(SPEC) in place of the
-- callbacks.
--
-- SPEC: columns  {TITLE, FIELD, width =, kind =, name =, of = function(value) -> value} each, or a
--                function that makes them of the arguments; name, the key in JSON, is that of the
--                field unless given
--       filter   which events (text, or a function that makes it of the arguments)
--       args     arguments, as of report.args; the one about colours is added
--       init     called in on_init with the arguments, to request fields that `of` uses
--       color    function(values by name, arguments) -> name of a colour, or nil
local report = require "report"

return function(spec)
  local rows = spec.args or {}
  rows[#rows + 1] = report.color_arg
  local arg = report.args(rows)
  local columns, handles, put = {}, {}, nil

  function on_init()
    if spec.init then spec.init(arg) end
    local list = type(spec.columns) == "function" and spec.columns(arg) or spec.columns
    for i, c in ipairs(report.with_container(list)) do
      columns[i] = {title = c[1], name = c.name or c[2], kind = c.kind, width = c.width, of = c.of}
      handles[i] = c[2] and chisel.request_field(c[2]) or false
    end
    local filter = type(spec.filter) == "function" and spec.filter(arg) or spec.filter
    chisel.set_filter(filter)
    put = report.stream(columns)
    return true
  end

  local field = evt.field
  function on_event()
    local row, named = {}, {}
    for i, column in ipairs(columns) do
      local value = handles[i] and field(handles[i]) or nil
      if column.of then value = column.of(value) end
      if value == "" then value = nil end
      row[i], named[column.name] = value, value
    end
    put(row, spec.color and spec.color(named, arg))
    return true
  end
end
