-- SPDX-License-Identifier: Apache-2.0
description = "Lists UDP flows: the process, the connection, the direction, and the number of datagrams and bytes. With the number of a flow, it prints the data of that flow unchanged: saker -r in.scap -c udp_extract 2 >flow.bin; on a terminal, as text. With a folder and --chisel-unsafe, it writes each flow to a file there. A capture has as much of each datagram as its -s says. DNS is left out, unless there is a filter."
short_description = "List UDP flows and extract their data"
category = "Net"

local report = require "report"

local arg = report.args {
  {name = "flow", argtype = "int", default = 0, check = report.whole(0),
   description = "print the data of the flow with this number; 0: the list of flows (0)"},
  {name = "folder", optional = true,
   description = "existing folder: write the data of each flow to a file there"},
}

local columns = report.with_container {
  {"FLOW", name = "flow", kind = "number"},
  {"DIRECTION", name = "direction"},
  {"DATAGRAMS", name = "datagrams", kind = "number"},
  {"BYTES", name = "bytes", kind = "bytes"},
  {"KEPT", name = "kept", kind = "bytes"},
  {"PID", name = "pid", kind = "number"},
  {"PROCESS", name = "process"},
  {"CONNECTION", name = "connection"},
}
report.named(columns)

local FLOWS_MAX = 100000 -- peers can make up any number of flows

local handles, flows, by_key = {}, {}, {}
local n_lost = 0 -- datagrams of flows beyond FLOWS_MAX

function on_init()
  handles = report.fields {
    connection = "fd.name", pid = "proc.pid", process = "proc.name", dir = "evt.io_dir",
    bytes = "evt.rawres", data = "evt.rawarg.data", ["container.name"] = "container.name",
  }
  local dns = sysdig.get_filter() == "" and " and not fd.port=53" or ""
  chisel.set_filter("evt.dir=< and evt.is_io=true and evt.rawres>=0 and fd.l4proto=udp" .. dns)
  sysdig.set_snaplen(65535)
  return true
end

local function find_flow()
  local dir, connection = evt.field(handles.dir), evt.field(handles.connection) or ""
  local pid = evt.field(handles.pid)
  local key = ("%s %s %s"):format(pid, dir, connection)
  local flow = by_key[key]
  if not flow and #flows >= FLOWS_MAX then
    n_lost = n_lost + 1
  elseif not flow then
    flow = {flow = #flows + 1, direction = dir == "write" and "sent" or "received", datagrams = 0,
            bytes = 0, kept = 0, pid = pid, process = evt.field(handles.process),
            connection = connection, ["container.name"] = evt.field(handles["container.name"])}
    flows[#flows + 1], by_key[key] = flow, flow
  end
  return flow
end

-- Appends to the file of a flow: 7_sent_127.0.0.1_5000_127.0.0.1_53 is 127.0.0.1:5000->127.0.0.1:53 of
-- process 7. Files are closed again: there can be thousands of flows.
local function append(flow, data)
  local name = ("%s_%s_%s"):format(flow.pid or "", flow.direction, flow.connection):gsub("[^%w.]+", "_")
  local path = ("%s/%s"):format(arg.folder, name)
  local allowed, file, why = pcall(io.open, path, flow.datagrams == 1 and "wb" or "ab")
  if not allowed then why = "files are written only with --chisel-unsafe" end
  if not allowed or not file then
    io.stderr:write(("saker: udp_extract: %s\n"):format(why))
    os.exit(1)
  end
  file:write(data)
  file:close()
end

function on_event()
  local flow, data = find_flow(), evt.field(handles.data) or ""
  if not flow then return true end
  flow.datagrams, flow.bytes = flow.datagrams + 1, flow.bytes + evt.field(handles.bytes)
  flow.kept = flow.kept + #data
  if arg.folder then
    append(flow, data)
  elseif flow.flow == arg.flow and report.is_json() then
    report.print_json {flow = flow.flow, data = report.text(data)}
  elseif flow.flow == arg.flow then
    io.write(sysdig.is_tty() and report.text(data) .. "\n" or data)
  end
  return true
end

function on_capture_end()
  if n_lost > 0 then
    sysdig.log(("%d datagrams of flows beyond the first %d are left out"):format(n_lost, FLOWS_MAX), "warning")
  end
  if arg.flow > 0 and not arg.folder then return end
  if #flows == 0 then return report.put_nothing("no UDP datagrams") end
  local rows = {}
  for n, flow in ipairs(flows) do
    rows[n] = {}
    for i, c in ipairs(columns) do rows[n][i] = flow[c.name] end
  end
  report.put_once(columns, rows)
end
