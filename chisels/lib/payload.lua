-- SPDX-License-Identifier: Apache-2.0
-- Chisels that print the data of reads and writes: require "payload"(SPEC), which sets the callbacks.
--
-- SPEC: filter   text, or function(arguments) that returns it
--       args     arguments, as for report.args; disable_color is added
--       formatted  true: data in the format of -x, -X or -A (default: one line with dots); else as text
--       empty    true: include reads and writes of 0 bytes
--       briefly  true: a head only when the process or file changes, not for each event
local messages_of = require "messages"
local report = require "report"

-- Bytes of each buffer to keep, live: longer than most lines.
local SNAPLEN = 2000

-- Fields by key.
local FIELDS = {
  time = "evt.rawtime", process = "proc.name", pid = "proc.pid", dir = "evt.io_dir",
  bytes = "evt.rawres", file = "fd.name", type = "fd.type", shown = "evt.buffer", data = "evt.rawarg.data",
  container = "container.name", len = "evt.buflen", entries = "evt.rawarg.messages",
}

local function object(e, data)
  return {time = e.time, ["proc.name"] = e.process, ["proc.pid"] = e.pid, ["evt.io_dir"] = e.dir,
          bytes = e.bytes, ["fd.name"] = e.file, data = data,
          ["container.name"] = sysdig.is_print_container_data() and e.container or nil}
end

-- Returns the line above the data. kept: bytes of the data that were captured.
local function head(e, kept, briefly)
  local who = ("%s (%s)"):format(e.process or "-", e.pid or "-")
  if sysdig.is_print_container_data() then who = ("[%s] %s"):format(e.container or "-", who) end
  local name = e.file ~= "" and e.file or e.type or "?"
  if briefly then return ("------ %s %ss %s"):format(who, e.dir, name) end
  local size = ("%s%s"):format(report.bytes(e.bytes), e.bytes < 1024 and "B" or "")
  if kept < e.bytes then size = ("%s (%d kept)"):format(size, kept) end
  return ("------ %s %s %ss %s %s"):format(report.clock(e.time), who, e.dir, size, name)
end

-- Makes an event of sendmmsg or recvmmsg, whose result is a number of messages, one of all their bytes.
local function join(e)
  e.bytes = e.len or e.bytes
  for i, message in ipairs(messages_of(e.data, e.entries)) do
    if i > 1 then e.data = e.data .. message.data end
  end
end

local Payload = {}
Payload.__index = Payload

function Payload:init()
  local spec = self.spec
  self.handles = report.fields(FIELDS)
  local filter = type(spec.filter) == "function" and spec.filter(self.arg) or spec.filter
  chisel.set_filter(("evt.is_io=true and evt.dir=< and evt.rawres%s0 and %s"):format(
    spec.empty and ">=" or ">", filter))
  sysdig.set_snaplen(SNAPLEN)
end

function Payload:end_line()
  if not self.at_start then io.write("\n") end
  self.at_start = true
end

-- Prints the head of an event; with `briefly` only if the event before had another one.
function Payload:put_head(e, kept)
  local briefly, key = self.spec.briefly, ("%d %s %s"):format(e.pid or -1, e.dir, e.file)
  if briefly and key == self.before then return end
  self.before = key
  self:end_line()
  print(report.paint(e.dir == "write" and "blue" or "red", report.line(head(e, kept, briefly))))
end

function Payload:event()
  local e, spec = {}, self.spec
  for key, handle in pairs(self.handles) do e[key] = evt.field(handle) end
  e.file = e.file or ""
  if e.entries and e.data then join(e) end
  local kept = e.data or ""
  local data = spec.formatted and (e.shown or ""):gsub("^\n", "") or report.text(kept)
  if report.is_json() then return report.print_json(object(e, data)) end
  self:put_head(e, #kept)
  io.write(data)
  self.at_start = data == "" and self.at_start or data:find("\n$") ~= nil
  if not spec.briefly then self:end_line() end
end

return function(spec)
  local rows = spec.args or {}
  rows[#rows + 1] = report.color_arg
  local payload = setmetatable({spec = spec, arg = report.args(rows), handles = {}, at_start = true}, Payload)

  function on_init()
    payload:init()
    return true
  end

  function on_event()
    payload:event()
    return true
  end

  function on_capture_end() payload:end_line() end
end
