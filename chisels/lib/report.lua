-- SPDX-License-Identifier: Apache-2.0
-- The output and the arguments of chisels: require "report". Output is a table with aligned columns, which
-- a terminal redraws in place; or lines as they come; or JSON with -j.
--
-- A column is {title = "BYTES", name = "bytes", kind = "bytes"}. name is its key in JSON, which has plain
-- numbers (bytes, nanoseconds); kind, a key of report.kinds, is its format in a table. A row is a list of
-- values, in the order of the columns.
local report = {}

-- ---- values as text ----

local function scaled(value, units, step)
  local at = 1
  while math.abs(value) >= step - 0.05 and at < #units do -- 1.0M, not 1024.0K
    value, at = value / step, at + 1
  end
  if at == 1 then return ("%d%s"):format(value, units[1]) end
  return ("%.1f%s"):format(value, units[at])
end

local byte_units = {"", "K", "M", "G", "T"}
function report.bytes(n) return scaled(n, byte_units, 1024) end

-- Units of time. The largest one is used in which the rounded value is at least 1: 1.00s, not 1000.00ms.
local time_units = {{3600e9, "h"}, {60e9, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}
function report.time(ns)
  for i = 1, #time_units - 1 do
    local unit, smaller = time_units[i], time_units[i + 1]
    if math.abs(ns) >= unit[1] - smaller[1] / 200 then
      return ("%.2f%s"):format(ns / unit[1], unit[2])
    end
  end
  return ("%dns"):format(ns)
end

-- Returns the local time of day of nanoseconds since 1970.
local clock_second, clock_text
function report.clock(ns)
  local second = ns // 1000000000
  if second ~= clock_second then clock_second, clock_text = second, os.date("%H:%M:%S", second) end
  return ("%s.%03d"):format(clock_text, ns % 1000000000 // 1000000)
end

-- Makes bytes safe for a terminal: newlines, tabs and UTF-8 stay, each other byte becomes a dot. So do those of
-- characters that control a terminal, or turn the direction of what follows.
function report.text(bytes)
  local text = bytes:gsub("\r\n", "\n"):gsub("[\0-\8\11-\31\127]", ".")
  local _, bad = utf8.len(text)
  if bad and #text - bad < 4 and text:find("^[\xC2-\xF4][\x80-\xBF]*$", bad) then
    text, bad = text:sub(1, bad - 1), nil -- the capture cut a character
  end
  if bad then return (text:gsub("[\128-\255]", ".")) end
  text = text:gsub("\xC2[\x80-\x9F]", "..")
  return (text:gsub("\xE2\x80[\xAA-\xAE]", "..."):gsub("\xE2\x81[\xA6-\xA9]", "..."))
end

-- Makes captured text safe for a terminal, on one line.
function report.line(text)
  if chisel.is_printable(text) then return text end
  return (report.text(text):gsub("[\n\t]", "."))
end

-- Removes the spaces at the end. "^(.-) *$" would take quadratic time in the number of spaces, and the
-- text is hostile.
function report.trim(text) return text:match("^.*[^ ]") or "" end

-- Returns the part after the last slash. "[^/]*$" would take quadratic time in the length of a name.
function report.base_name(path) return path:match("^.*/(.*)$") or path end

-- The same of a source file. The slash in a module of Node.js (node:internal/timers) is not that of a folder.
function report.source_name(path) return path:find("^node:") and path or report.base_name(path) end

-- Returns the last parts of the path of a source file: "b.py", "a/b.py". Without the beginning in the pattern it would
-- take quadratic time in the length of a part that a slash ends.
function report.end_of(path, n_parts)
  if path:find("^node:") then return path end
  return path:match("^.*/([^/]+" .. ("/[^/]+"):rep(n_parts - 1) .. ")$") or path
end

-- Returns the number of bytes that a peer sent as decimal digits; nil if it is not a number, or more
-- than a file can have. The limit keeps sums of them integers.
local SIZE_MAX = 1 << 50
function report.size(digits)
  local n = digits and digits:match("^%d+$") and math.tointeger(tonumber(digits))
  return n and n <= SIZE_MAX and n or nil
end

-- On a terminal, cuts the beginning of a long path: its end matters more.
local TAIL = 32
local function tail(text)
  local length = utf8.len(text) or #text
  if length <= TAIL or not sysdig.is_tty() then return text end
  return "<" .. text:sub(utf8.offset(text, -(TAIL - 1)) or -(TAIL - 1))
end

report.kinds = {
  text = {show = function(value) return report.line(tostring(value)) end},
  number = {show = function(n) return ("%d"):format(n) end, right = true},
  bytes = {show = report.bytes, right = true},
  time = {show = report.time, right = true},
  percent = {show = function(n) return ("%.1f"):format(n) end, right = true},
  clock = {show = function(ns) return report.clock(ns) end},
  file = {show = function(value) return tail(report.line(value)) end},
  result = {show = function(value) return report.line(tostring(value)) end, right = true},
}

-- A table shows an unknown value as "-", never as 0. Event lines show it as this.
local NONE = "<NA>"

local function show(column, value)
  if value == nil or value == NONE then return "-" end
  return (report.kinds[column.kind or "text"] or report.kinds.text).show(value)
end

-- ---- lines ----

local function width_of(text) return utf8.len(text) or #text end

local function pad(text, width, right)
  local spaces = (" "):rep(width - width_of(text))
  return right and spaces .. text or text .. spaces
end

-- Cuts the text to `width` characters.
function report.cut(text, width)
  if width_of(text) <= width then return text end
  if width < 1 then return "" end
  local at = utf8.len(text) and utf8.offset(text, width) or width
  return text:sub(1, at - 1) .. ">"
end

-- Cuts a name in the middle: its ends matter most.
function report.cut_middle(text, width)
  local n = width_of(text)
  if n <= width or width < 3 then return report.cut(text, width) end
  local front, at = width // 2, utf8.len(text) and utf8.offset or function(_, i) return i end
  return text:sub(1, at(text, front + 1) - 1) .. "…" .. text:sub(at(text, n - (width - front - 1) + 1))
end

-- Aligns the cells of one line; the last column is not padded.
local function line(columns, widths, cells)
  local parts = {}
  for i, column in ipairs(columns) do
    local right = (report.kinds[column.kind or "text"] or report.kinds.text).right
    local last = i == #columns and not right
    parts[i] = last and cells[i] or pad(cells[i], widths[i], right)
  end
  return table.concat(parts, "  ")
end

-- On a terminal, text is cut to LONGEST, except in the last column and in one that is `whole` or `fits`.
-- Elsewhere nothing is cut: a text longer than WIDEST, which any process can make up, moves the rest of its
-- own line, and does not widen the column.
local LONGEST, WIDEST = 40, 120

local function cells_of(columns, row)
  local cells, cuts = {}, sysdig.is_tty()
  for i, column in ipairs(columns) do
    local text = show(column, row[i])
    if column.room then text = report.cut_middle(text, column.room) end
    if cuts and i < #columns and not column.whole and not column.fits then
      text = report.cut(text, column.most or LONGEST)
    end
    cells[i] = text
  end
  return cells
end

function report.is_json() return sysdig.get_output_format() == "json" end

-- Prints an object on one line, with sorted keys, without keys that have no value.
function report.print_json(object)
  local shown = {}
  for key, value in pairs(object) do
    if value ~= NONE then shown[key] = value end
  end
  print(next(shown) and chisel.json(shown) or "{}")
end

local function names_of(columns)
  local names = {}
  for i, column in ipairs(columns) do names[i] = column.name end
  return names
end

-- Returns the lines of a table, its head first. widths persist between calls, so that columns do not jump.
function report.lines(columns, rows, widths)
  local head, all, out = {}, {}, {}
  for i, column in ipairs(columns) do
    head[i] = column.title
    widths[i] = math.max(widths[i] or 0, width_of(column.title))
  end
  for n, row in ipairs(rows) do
    all[n] = cells_of(columns, row)
    for i, text in ipairs(all[n]) do
      if i < #columns then widths[i] = math.max(widths[i], math.min(width_of(text), WIDEST)) end
    end
  end
  out[1] = line(columns, widths, head)
  for n, cells in ipairs(all) do out[n + 1] = line(columns, widths, cells) end
  return out
end

-- ---- the screen ----

-- Whether tables are redrawn in place: live, on a terminal, and with one chisel only.
function report.redraws()
  return sysdig.is_live() and sysdig.is_tty() and sysdig.is_alone() and not report.is_json()
end

local drawn = false

-- Returns the number of lines on the screen, without the last one, which is for the cursor; nil if there
-- is no limit.
local function room()
  if not report.redraws() then return nil end
  local height = sysdig.get_terminal_info().height
  return height > 2 and height - 1 or nil
end

-- Prints lines. On a terminal they overwrite those before, as far as the screen has room. A line as wide as
-- the terminal needs no clearing behind it.
function report.draw(lines)
  if not report.redraws() then
    sysdig.put_title()
    io.write(table.concat(lines, "\n"), "\n")
    return
  end
  local width = sysdig.get_terminal_info().width
  local texts, ends = {}, {}
  for i = 1, math.min(#lines, room() or #lines) do
    texts[i] = width > 0 and report.cut(lines[i], width) or lines[i]
    ends[i] = width_of(texts[i]) ~= width and "\27[K" or ""
  end
  sysdig.control_terminal(drawn and "\27[H" or "\27[2J\27[H")
  drawn = true
  for i, text in ipairs(texts) do
    io.write(text)
    sysdig.control_terminal(ends[i])
    io.write("\n")
  end
  sysdig.control_terminal("\27[J")
  io.flush()
end

local function put_objects(columns, rows, time)
  local names = names_of(columns)
  names[#names + 1] = time and "time"
  for _, row in ipairs(rows) do
    row[#columns + 1] = time
    print(chisel.json_row(names, row))
  end
  io.flush()
end

-- On a terminal, lines are made to fit its width: first `extra` columns are left out, then the widest text
-- columns are cut, down to this many characters. A column that `fits` keeps twice the width of others.
local LEAST_ROOM = 8
local function widths_of(columns, rows)
  local widths, total = {}, 2 * (#columns - 1)
  for i, column in ipairs(columns) do
    column.room = nil
    widths[i] = width_of(column.title)
    for _, row in ipairs(rows) do
      widths[i] = math.max(widths[i], width_of(cells_of({column, {}}, {row[i]})[1]))
    end
    total = total + widths[i]
  end
  return widths, total
end

local function widest_text(columns, widths)
  local at, most
  for i, column in ipairs(columns) do
    local is_text = (column.kind or "text") == "text" or column.kind == "file"
    local width = column.fits and widths[i] / 2 or widths[i]
    if is_text and widths[i] > math.max(LEAST_ROOM, width_of(column.title)) and (not at or width > most) then
      at, most = i, width
    end
  end
  return at
end

local function without(list, at, n)
  local copy = table.move(list, 1, at - 1, 1, {})
  return table.move(list, at + 1, n, at, copy)
end

-- Returns the columns and rows that fit.
local function give_room(columns, rows)
  local width = sysdig.is_tty() and sysdig.get_terminal_info().width or 0
  if width <= 0 then return columns, rows end
  local widths, total = widths_of(columns, rows)
  for at = #columns, 1, -1 do
    if total > width and columns[at].extra then
      local less = {}
      for i, row in ipairs(rows) do less[i] = without(row, at, #columns) end
      columns, rows = without(columns, at, #columns), less
      widths, total = widths_of(columns, rows)
    end
  end
  while total > width do
    local at = widest_text(columns, widths)
    if not at then break end
    widths[at], total = widths[at] - 1, total - 1
    columns[at].room = widths[at]
  end
  return columns, rows
end

-- Prints a table once, of any length; with `cuts` its lines are cut to the width of the terminal.
function report.put_once(columns, rows, cuts)
  if report.is_json() then return put_objects(columns, rows) end
  sysdig.put_title()
  columns, rows = give_room(columns, rows)
  local lines, width = report.lines(columns, rows, {}), cuts and sysdig.get_terminal_info().width or 0
  for i = 1, width > 0 and #lines or 0 do lines[i] = report.cut(lines[i], width) end
  io.write(table.concat(lines, "\n"), "\n")
end

-- Prints a table, which overwrites the one before on a terminal. time: its end in nanoseconds, for the JSON
-- of a live table. total: a last row, not in JSON, which is shown even if the screen cannot hold all rows.
function report.put(columns, rows, widths, title, time, total)
  if report.is_json() then
    put_objects(columns, rows, time)
    return
  end
  local most = room()
  local n = most and math.max(most - 1 - (title and 1 or 0) - (total and 1 or 0), 0) or #rows
  local shown = table.move(rows, 1, math.min(n, #rows), 1, {})
  shown[#shown + 1] = total
  local lines = report.lines(columns, shown, widths)
  if title then table.insert(lines, 1, title) end
  report.draw(lines)
end

-- The tables of a chisel: live one per arg.interval seconds, or one of the whole capture if that is 0; one
-- of a whole capture file. put(now, begin) prints the table of the time from begin to now. Returns
-- start, interval and finish, for on_capture_start, on_interval and on_capture_end; and title(now), which
-- returns the line above a table.
function report.tables(arg, put)
  local tables, begin, drawn = {}, nil, false

  local function put_table(now)
    put(now, begin)
    drawn = true
    if arg.interval > 0 then begin = now end
  end

  function tables.start()
    if sysdig.is_live() and (arg.interval > 0 or report.redraws()) then
      chisel.set_interval_s(math.max(arg.interval, 1))
    end
    return true
  end

  -- Intervals end at whole seconds. If the first one is short, the second table includes it.
  function tables.interval(s, ns)
    local now = s * 1000000000 + ns
    begin = begin or tonumber(sysdig.get_firstevent_ts())
    if drawn or now - begin >= math.max(arg.interval, 1) * 900000000 then put_table(now) end
    return true
  end

  -- On a screen, the table of the last, incomplete interval does not overwrite the last complete one.
  function tables.finish(s, ns)
    begin = begin or tonumber(sysdig.get_firstevent_ts())
    if arg.interval == 0 or not (drawn and report.redraws()) then put_table(s * 1000000000 + ns) end
  end

  function tables.title(now)
    if not sysdig.is_live() then return nil end
    local follows = drawn and sysdig.is_alone() and not report.redraws()
    return (follows and "\n" or "") .. os.date("%H:%M:%S", now // 1000000000)
  end

  return tables
end

-- Prints that the capture has no such events. what: the sentence (default: names the filters).
function report.put_nothing(what, filter)
  if report.is_json() or sysdig.is_live() and not sysdig.is_tty() then return end
  local both = {}
  for _, f in ipairs {filter or "", sysdig.get_filter()} do
    if f ~= "" then both[#both + 1] = f end
  end
  print(what or "no events match " .. table.concat(both, ", and "))
end

-- ---- fields ----

-- Requests fields: names is a table of their names by key. Returns the handles for evt.field, by key.
function report.fields(names)
  local handles = {}
  for key, name in pairs(names) do handles[key] = chisel.request_field(name) end
  return handles
end

-- Returns the text of an endpoint: 10.0.0.1:80 or [::1]:80; the address alone if the port is unknown, and
-- nil if the address is.
function report.endpoint(ip, port)
  if not ip then return nil end
  if ip:find(":", 1, true) then ip = "[" .. ip .. "]" end
  return port and ("%s:%d"):format(ip, port) or ip
end

-- ---- lines as they come ----

-- Prints rows as they come. Returns two functions. put(row, color) prints the head before the first row;
-- put() prints only the head, live on a terminal. finish(what, filter), for on_capture_end, is put_nothing
-- if there was no row. Each column has a `width`; a longer value moves the rest of its own line only. A
-- column without a title is in JSON only.
function report.stream(columns)
  local shown, from, widths, head = {}, {}, {}, {}
  for i, column in ipairs(columns) do
    if column.title then
      local n = #shown + 1
      shown[n], from[n], head[n] = column, i, column.title
      widths[n] = math.max(column.width or 0, width_of(column.title))
    end
  end
  local names, has_head, n = names_of(columns), false, 0
  local function finish(what, filter)
    if n == 0 then report.put_nothing(what, filter) end
  end
  return function(row, color)
    if row then n = n + 1 end
    if not row and not report.redraws() then return end
    if report.is_json() then
      print(chisel.json_row(names, row))
      return
    end
    if not has_head then print((line(shown, widths, head))) end
    has_head = true
    if not row then return end
    local cells = {}
    for n, column in ipairs(shown) do cells[n] = show(column, row[from[n]]) end
    print(report.paint(color, (line(shown, widths, cells))))
  end, finish
end

-- Sets on_capture_start, which prints the head live on a terminal. In on_init.
local function put_head_at_start(put, finish)
  function on_capture_start()
    put()
    return true
  end
  return put, finish
end

-- As report.stream, and sets on_capture_start.
function report.log(columns) return put_head_at_start(report.stream(columns)) end

-- As report.log, for rows that are objects: values by the names of the columns.
function report.object_log(columns)
  local put, finish = report.log(columns)
  return function(object, color)
    local row = {}
    for i, c in ipairs(columns) do row[i] = object[c.name] end
    put(row, color)
  end, finish
end

-- The container as a key of toplist: counted by its id, and shown by its name once that is known.
report.container_key = {"CONTAINER", "container.id", name = "container.name", show = function(id)
  for _, container in ipairs(sysdig.get_container_table()) do
    if container.id == id and container.name ~= "" then return container.name end
  end
  return id
end}

-- Sets title and name of each column {TITLE, FIELD, name = ...}; the default name is FIELD.
function report.named(columns)
  for _, c in ipairs(columns) do c.title, c.name = c[1], c.name or c[2] end
  return columns
end

-- Returns the columns, with -pc with the container after the first one.
function report.with_container(columns)
  if not sysdig.is_print_container_data() then return columns end
  local all = table.move(columns, 1, #columns, 1, {})
  table.insert(all, 2, {"CONTAINER", "container.name", width = 15})
  return all
end

-- As report.stream, for rows about the current event: columns are {TITLE, name = ...} each. With -pc the
-- container of the event comes after the first column. In on_init.
function report.event_stream(columns)
  local all = report.with_container(columns)
  local container = #all > #columns and chisel.request_field("container.name")
  report.named(all)
  local put, finish = report.stream(all)
  if not container then return put, finish end
  return function(row, color)
    if not row then return put() end
    local wide = {row[1], evt.field(container)}
    for i = 2, #columns do wide[i + 1] = row[i] end
    put(wide, color)
  end, finish
end

-- As report.event_stream, and sets on_capture_start.
function report.event_log(columns) return put_head_at_start(report.event_stream(columns)) end

-- ---- colours ----

local wants_color = true

-- Whether output has colours: on a terminal, without -j and the argument report.color_arg.
function report.colors() return wants_color and sysdig.is_tty() and not report.is_json() end

local paints = {red = 31, green = 32, yellow = 33, blue = 34, magenta = 35, cyan = 36, dim = 2, bold = 1}

function report.paint(color, text)
  if not color or not report.colors() then return text end
  return sysdig.color(paints[color]) .. text .. sysdig.color("0")
end

report.color_arg = {
  name = "disable_color", optional = true,
  description = "'disable_colors' for a terminal without colors",
  check = function(value)
    if value ~= "disable_color" and value ~= "disable_colors" then
      return nil, "disable_colors, or no value, is needed"
    end
    wants_color = false
    return value
  end,
}

-- ---- arguments ----

-- Sets `args` and on_set_arg of a chisel, and returns the table of values by name. A row is as in the
-- chisels of sysdig, and may have `default`, and check(value), which returns the value, or nil and a
-- sentence.
function report.args(rows)
  local values, by_name = {}, {}
  for _, row in ipairs(rows) do
    row.argtype = row.argtype or "string"
    if row.optional == nil then row.optional = row.default ~= nil end
    values[row.name], by_name[row.name] = row.default, row
  end
  args = rows
  function on_set_arg(name, value)
    local row, why = by_name[name], nil
    if row.check then
      value, why = row.check(value)
      if value == nil then
        io.stderr:write(("%s: %s\n"):format(name, why))
        return false
      end
    end
    values[name] = value
    return true
  end
  return values
end

-- Returns a check for report.args: a whole number of at least min, and at most max if it is given.
function report.whole(min, max)
  return function(value)
    local n = math.tointeger(tonumber(value))
    if n and n >= min and n <= (max or n) then return n end
    if max then return nil, ("a whole number from %d to %d is needed"):format(min, max) end
    return nil, ("a whole number of at least %d is needed"):format(min)
  end
end

-- A check: the name of a field.
function report.field(value)
  local known, why = pcall(chisel.request_field, value)
  if known then return value end
  return nil, tostring(why):match("request_field%b(): (.*)") or why
end

-- A check: a number of milliseconds, which may have a fraction, or be 0.
function report.milliseconds(value)
  local n = tonumber(value)
  if n and n >= 0 and n < 1e12 then return n end
  return nil, "a number of milliseconds of at least 0 is needed"
end

-- Returns a check: one of these words.
function report.one_of(words)
  return function(value)
    for _, word in ipairs(words) do
      if word == value then return word end
    end
    if #words == 1 then return nil, words[1] .. ", or no value, is needed" end
    return nil, "one of " .. table.concat(words, ", ") .. " is needed"
  end
end

-- Conditions: a call that makes a process returns in the child; the ends of calls, each once.
report.is_in_child = "evt.type in (clone, clone3, fork, vfork) and evt.dir=< and evt.rawres=0"
report.is_end = "evt.dir=< and not (" .. report.is_in_child .. ")"

-- A filter: files, without terminals and devices that hold no data.
report.real_files = "fd.type=file and not (fd.name startswith /dev/tty or fd.name startswith /dev/pt"
  .. " or fd.name in (/dev/null, /dev/zero, /dev/full, /dev/random, /dev/urandom))"

return report
