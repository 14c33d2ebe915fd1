-- SPDX-License-Identifier: Apache-2.0
description = "Shows what TCP did, by process and service, or by connection, with a row for each end on this machine: connects, how many failed, the longest connect, the round trip time, retransmitted segments, resets received and sent, dropped packets, overflows of the listen queue, and the reasons. Rows with the most faults come first. A service is the address that a client connects to, or that a server listens on."
short_description = "TCP connects, retransmits, resets and drops"
category = "Net"

local bounded = require "bounded"
local report = require "report"

local ROWS_MAX, REASONS_MAX, TEXT_MAX = 10000, 16, 6
local BY = {"service", "connection"}

local arg = report.args {
  {name = "by", default = "service", check = report.one_of(BY), description = "rows: service or connection (service)"},
  {name = "top", argtype = "int", default = 20, check = report.whole(1), description = "rows in the table (20)"},
  {name = "interval", argtype = "int", default = 0, check = report.whole(0),
   description = "live: seconds per table; 0: one table of the whole capture (0)"},
}

local f, rows, ends, strays, evicted, tables
local widths = {}
local TALLIES = {"connects", "failed", "retrans", "resets_in", "resets_out", "drops", "overflows"}

local function is_by_connection() return arg.by == "connection" end

local function count_evicted() evicted = evicted + 1 end

local function start_rows()
  rows = bounded(ROWS_MAX, count_evicted)
  ends = bounded(ROWS_MAX) -- of connections, by both addresses: {row, refused}
  strays = bounded(ROWS_MAX, count_evicted) -- rows of packets without a socket, by both addresses
  evicted = 0
end

-- If the role is unknown, the end with the lower port counts as the service.
local function role_of(role, here, there)
  if role and role ~= "unknown" then return role end
  return here and there and here > there and "client" or "server"
end

local function new_row(key)
  local role = role_of(evt.field(f.role), evt.field(f.here), evt.field(f.there))
  local of_service = role == "client" and f.remote or f.local_end
  return {
    key = key, process = evt.field(f.process) or evt.field(f.comm), pid = evt.field(f.pid), role = role,
    name = evt.field(is_by_connection() and role ~= "listener" and f.conn or of_service),
    connects = 0, failed = 0, retrans = 0, resets_in = 0, resets_out = 0, drops = 0, overflows = 0,
    reasons = {}, n_reasons = 0,
  }
end

local function key_of()
  local process = evt.field(f.process) or evt.field(f.comm) or ""
  local role = evt.field(f.role)
  if is_by_connection() then
    local name = evt.field(role == "listener" and f.local_end or f.conn)
    return ("%s %s %s"):format(evt.field(f.pid) or "", role, name)
  end
  role = role_of(role, evt.field(f.here), evt.field(f.there))
  return ("%s\0%s %s"):format(process, role, evt.field(role == "client" and f.remote or f.local_end))
end

-- Returns a key of the end of a connection, or of its peer.
local function end_of(is_peer)
  local here, there = evt.field(f.local_end), evt.field(f.remote)
  if is_peer then here, there = there, here end
  return ("%s %s"):format(here, there)
end

-- Returns the row that the end of this connection has already. An event may lack the process.
local function row_of_end()
  local known, pid = ends:get(end_of()), evt.field(f.pid)
  if not known or pid and known.row.pid and pid ~= known.row.pid then return nil end
  if not pid or is_by_connection() then return known.row end
end

local function row_of_event()
  local key = key_of()
  local row = row_of_end() or rows:get(key) or new_row(key)
  rows:put(row.key, row)
  row.process, row.pid = evt.field(f.process) or row.process, row.pid or evt.field(f.pid)
  return row
end

-- A packet for no socket, such as a SYN for a closed port, has no process. Its connection may be known only later.
local function is_stray() return evt.field(f.role) == "unknown" and not evt.field(f.pid) end

local function stray_of_event()
  local key = end_of()
  local stray = strays:get(key) or {row = new_row(key_of()), peer = end_of(true)}
  strays:put(key, stray)
  return stray.row
end

local function add_reason(row, text, n)
  if not row.reasons[text] then
    if row.n_reasons == REASONS_MAX then text = "other" end
    row.n_reasons = row.n_reasons + (row.reasons[text] and 0 or 1)
  end
  row.reasons[text] = (row.reasons[text] or 0) + n
end

local counters = {}

function counters.tcp_connect(row)
  local outcome, latency = evt.field(f.outcome), evt.field(f.latency)
  row.connects = row.connects + 1
  if outcome ~= "established" then
    row.failed = row.failed + 1
    add_reason(row, outcome or "failed", 1)
  end
  if latency and latency > (row.latency or 0) then row.latency = latency end
end

function counters.tcp_retransmit(row)
  local segs, kind = evt.field(f.segs) or 0, evt.field(f.kind)
  row.retrans = row.retrans + segs
  add_reason(row, ("%s retransmitted"):format(kind), segs)
end

-- The reset that refuses a connect is counted as its outcome.
function counters.tcp_reset(row)
  if evt.field(f.way) == "sent" then
    row.resets_out = row.resets_out + 1
    add_reason(row, ("reset sent %s"):format(evt.field(f.reason) or "?"), 1)
  elseif evt.field(f.state) ~= "SYN_SENT" then
    row.resets_in = row.resets_in + 1
    add_reason(row, "reset received", 1)
  end
end

-- QUEUE_PURGE: the process closed a socket without reading everything.
function counters.tcp_drop(row)
  if evt.field(f.reason) == "QUEUE_PURGE" then return end
  row.drops = row.drops + 1
  add_reason(row, ("drop %s"):format(evt.field(f.reason) or "?"), 1)
end

function counters.tcp_overflow(row)
  local n = evt.field(f.overflow) or 0
  row.overflows = row.overflows + n
  add_reason(row, ("listen queue of %d full"):format(evt.field(f.backlog) or 0), n)
end

-- A connect begins before its own port is chosen.
local function has_no_port() return evt.field(f.here) == 0 end

local function faults(row)
  return row.failed + row.retrans + row.resets_in + row.resets_out + row.drops + row.overflows
end

function on_event()
  if has_no_port() then return true end
  local count = counters[evt.field(f.type)]
  if is_stray() then
    if count then count(stray_of_event()) end
    return true
  end
  local row, key = row_of_event(), end_of()
  if count then count(row) end
  local known = ends:get(key) or {row = row}
  known.refused = known.refused or evt.field(f.outcome) == "refused"
  ends:put(key, known)
  row.srtt, row.state = evt.field(f.srtt) or row.srtt, evt.field(f.state) or row.state
  return true
end

local function merge(row, stray)
  for _, name in ipairs(TALLIES) do row[name] = row[name] + stray[name] end
  for text, n in pairs(stray.reasons) do add_reason(row, text, n) end
end

-- Gives packets without a socket to the row of their connection: that of their own end, else of the peer. Those that
-- refuse a connect are counted as its outcome. Others keep a row without a process.
local function place_strays()
  for key, stray in strays:each() do
    local own, peer = ends:get(key), ends:get(stray.peer)
    if own then
      merge(own.row, stray.row)
    elseif peer and not peer.refused then
      merge(peer.row, stray.row)
    elseif not peer and faults(stray.row) > 0 then
      local row = rows:get(stray.row.key)
      if row then merge(row, stray.row) else row = stray.row end
      rows:put(row.key, row)
    end
  end
  strays = bounded(ROWS_MAX, count_evicted)
end

local function reasons_text(row)
  local list = {}
  for text, n in pairs(row.reasons) do list[#list + 1] = {text, n} end
  table.sort(list, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
  for i, reason in ipairs(list) do list[i] = ("%s %d"):format(reason[1], reason[2]) end
  return #list > 0 and table.concat(list, ", ", 1, math.min(#list, TEXT_MAX)) or nil
end

-- Each column: title, name, kind, and the function that returns its value.
local function columns()
  local list = {
    {"FAULTS", "faults", "number", faults},
    {"CONNECTS", "connects", "number"}, {"FAILED", "failed", "number"}, {"LONGEST", "latency", "time"},
    {"SRTT", "srtt", "time"}, {"RETRANS", "retrans", "number"}, {"RST-IN", "resets_in", "number"},
    {"RST-OUT", "resets_out", "number"}, {"DROPS", "drops", "number"}, {"OVERFLOW", "overflows", "number"},
    {"PROCESS", "process", "text"}, {"ROLE", "role", "text"},
  }
  if is_by_connection() then
    table.insert(list, 11, {"PID", "pid", "number"})
    list[#list + 1] = {"STATE", "state", "text"}
  end
  list[#list + 1] = {is_by_connection() and "CONNECTION" or "SERVICE", "name", "text", whole = true}
  list[#list + 1] = {"WHY", "why", "text", reasons_text}
  for _, column in ipairs(list) do column.title, column.name, column.kind, column.of = table.unpack(column, 1, 4) end
  return list
end

local function worse(a, b)
  local x, y = faults(a), faults(b)
  if x ~= y then return x > y end
  if a.connects ~= b.connects then return a.connects > b.connects end
  return a.key < b.key
end

-- Returns the line above the table, which may end with how many rows it lacks.
local function title_of(now, n)
  local title = tables.title(now)
  if n <= arg.top then return title end
  local lacks = ("%d of %d rows; top=%d shows all"):format(arg.top, n, n)
  if report.is_json() then sysdig.log(lacks, "warning") end
  return title and ("%s  %s"):format(title, lacks) or lacks
end

local function put(now)
  local all, shown, titles = {}, {}, columns()
  place_strays()
  for _, row in rows:each() do all[#all + 1] = row end
  table.sort(all, worse)
  for i = 1, math.min(#all, arg.top) do
    shown[i] = {}
    for n, column in ipairs(titles) do
      if column.of then shown[i][n] = column.of(all[i]) else shown[i][n] = all[i][column.name] end
    end
  end
  report.put(titles, shown, widths, title_of(now, #all), sysdig.is_live() and now or nil)
  if #shown == 0 and not sysdig.is_live() then report.put_nothing("no events of TCP; capture with --tcp") end
  if evicted > 0 then sysdig.log(("%d rows were left out, as there were more than %d"):format(evicted, ROWS_MAX), "warning") end
  if arg.interval > 0 then start_rows() end
end

tables = report.tables(arg, put)
on_capture_start, on_interval, on_capture_end = tables.start, tables.interval, tables.finish

function on_init()
  f = report.fields {
    type = "evt.type", process = "proc.name", comm = "tcp.comm", pid = "tcp.pid", role = "tcp.role",
    conn = "tcp.conn", local_end = "tcp.local", remote = "tcp.remote", here = "tcp.local.port",
    there = "tcp.remote.port", state = "tcp.state", srtt = "tcp.srtt", outcome = "tcp.connect.outcome",
    latency = "tcp.connect.latency", segs = "tcp.retransmit.segs", kind = "tcp.retransmit.kind", way = "tcp.way",
    reason = "tcp.reason", overflow = "tcp.overflow.n", backlog = "tcp.overflow.backlog",
  }
  start_rows()
  chisel.set_filter("evt.type in (tcp_state, tcp_connect, tcp_retransmit, tcp_reset, tcp_rtt, tcp_drop, tcp_overflow)")
  return true
end
