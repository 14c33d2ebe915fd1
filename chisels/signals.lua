-- SPDX-License-Identifier: Apache-2.0
description = "Shows signals: which process sent which signal to which process, by which call, and its effect. EFFECT is 'sent', or the error of the call; then 'delivered', or 'ended it' if the signal terminated the receiver. AFTER is the time since the signal was sent. A signal of the kernel has the sender 'kernel' and no call; for SIGCHLD the sender's PID is that of the child. If SIGPIPE, SIGALRM, SIGVTALRM or SIGPROF terminates a process, and the capture has no call that sent it, 'kernel' is assumed; the same holds for SIGKILL after SIGXCPU (RLIMIT_CPU). Any other sender that was not captured is '-': a process outside of the capture, or the OOM killer. Deliveries of SIGCHLD are shown only with signal=SIGCHLD, and kill(pid, 0), which tests whether a process exists, only with signal=0."
short_description = "Show signals: sender, receiver and effect"
category = "System State"

local report = require "report"
local bounded = require "bounded"

local arg = report.args {
  {name = "signal", optional = true, description = "only this signal: a name or a number; 0: kill(pid, 0), which sends none"},
  report.color_arg,
}

local SIGKILL, SIGCHLD, SIGXCPU = 9, 17, 24
-- Signals that practically only the kernel sends: SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGPIPE, SIGALRM,
-- SIGURG, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGSYS.
local sent_by_kernel = {}
for _, number in ipairs {4, 5, 7, 8, 11, 13, 14, 23, 24, 25, 26, 27, 28, 29, 31} do sent_by_kernel[number] = true end
local CALLS = "kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal, pidfd_open"

local fields, put, finish = {}, nil, nil
-- Sent signals, {from, name, call, group, ts, given, pending, is_delivered}, by receiver, and by sender, as a
-- signal to a group has many receivers. pending: the call has no line yet.
local to, from = bounded(10000), bounded(10000)
local delivered = bounded(10000) -- by receiver: the last send that was delivered

local files = bounded(10000) -- by process and pidfd: the process that the pidfd refers to
local calls = bounded(10000) -- by thread: the signal that its open call sends

function on_init()
  fields = report.fields {
    time = "evt.rawtime", type = "evt.type", dir = "evt.dir", pid = "proc.pid", tid = "thread.tid",
    name = "proc.name", group = "proc.pgid", vpid = "proc.vpid", vtid = "thread.vtid", container = "container.id", result = "evt.rawres", error = "evt.res",
    sig = "evt.rawarg.sig", sig_name = "evt.arg.sig", to_pid = "evt.rawarg.pid",
    to_name = "evt.arg.pid", to_tid = "evt.rawarg.tid", to_tname = "evt.arg.tid",
    to_tgid = "evt.rawarg.tgid", to_gname = "evt.arg.tgid", pidfd = "evt.rawarg.pidfd",
    sender = "evt.rawarg.spid", sender_name = "evt.arg.spid",
  }
  chisel.set_filter(("evt.type in (%s) or evt.type=signaldeliver or " ..
                     "evt.type=procexit and evt.rawarg.sig>0 and thread.ismain=true"):format(CALLS))
  put, finish = report.event_log {
    {"TIME", name = "time", kind = "clock", width = 12},
    {"PID", name = "from_pid", kind = "number", width = 7},
    {"SENDER", name = "from", width = 15},
    {"CALL", name = "call", width = 17},
    {"SIGNAL", name = "signal", width = 9},
    {"PID", name = "to_pid", kind = "number", width = 7},
    {"RECEIVER", name = "to", width = 15},
    {"EFFECT", name = "effect", width = 9},
    {"AFTER", name = "after", kind = "time"},
  }
  return true
end

-- Whether the arguments select this signal.
local function is_wanted(number, name)
  if not arg.signal then return number ~= SIGCHLD and number ~= 0 end
  return arg.signal:upper() == name or "SIG" .. arg.signal:upper() == name or
         tonumber(arg.signal) == number
end

-- Returns nil for a text that is only the PID.
local function name_of(text)
  return text and not tonumber(text) and text or nil
end

local function put_row(send, number, name, to_pid, to_name, effect, color, after)
  if not is_wanted(number, name) then return end
  put({evt.field(fields.time), send.from, send.name, send.call, name, to_pid, to_name, effect, after},
      color)
end

-- Returns signal and receiver from the arguments of this event; nil if it has none.
local function args_of(call)
  local field = evt.field
  local given = {number = field(fields.sig), name = field(fields.sig_name)}
  if not given.number then return nil end
  if call == "tkill" then
    given.pid, given.to = field(fields.to_tid), field(fields.to_tname)
  elseif call == "rt_sigqueueinfo" or call == "rt_tgsigqueueinfo" then
    given.pid, given.to = field(fields.to_tgid), field(fields.to_gname)
  elseif call == "pidfd_send_signal" then
    local file = files:get(field(fields.pid) .. ":" .. (field(fields.pidfd) or -1)) or {}
    given.pid, given.to = file.pid, file.name
  else
    given.pid, given.to = field(fields.to_pid), field(fields.to_name)
  end
  return given
end

-- Whether the process is in a PID namespace of its own, where signals have the PIDs of the namespace.
local function is_nested()
  local vpid = evt.field(fields.vpid)
  return vpid and vpid > 0 and vpid ~= evt.field(fields.pid)
end

-- Returns a prefix for PIDs of a nested namespace in keys of `to`. The container stands for the namespace.
local function space() return is_nested() and (evt.field(fields.container) or "") .. "/" or "" end

-- Returns the key in `to` for the target of a call: a process or thread, a group, or all processes (-1).
local function key_of(given)
  local group = given.pid == 0 and evt.field(fields.group)
  return (group and -group or space() .. given.pid) .. ":" .. given.number
end

local function put_sent(send, given, effect, color)
  local to_name = name_of(given.to)
  if given.pid == 0 and send.group then to_name = "group of " .. send.group end
  put_row(send, given.number, given.name, given.pid, to_name, effect, color)
end

-- The enter: the signal can take effect before the call returns.
local function on_send_begins(call, tid)
  local field = evt.field
  local given = args_of(call)
  if not given then return end
  local send = {from = field(fields.pid), name = field(fields.name), call = call, group = field(fields.group),
                ts = field(fields.time), given = given, pending = true}
  calls:put(tid, send)
  if given.pid and given.number ~= 0 then to:put(key_of(given), send) end
end

-- Prints an effect of the signal; the line of the call comes first.
local function put_effect(send, number, effect, color)
  if send.pending then
    put_sent(send, send.given, "sent")
    send.pending = nil
  end
  local field = evt.field
  put_row(send, number, field(fields.sig_name), field(fields.pid), field(fields.name), effect, color,
          send.ts and field(fields.time) - send.ts or nil)
end

local function on_send(call)
  local field = evt.field
  local tid = field(fields.tid)
  if not tid then return end
  if field(fields.dir) == ">" then return on_send_begins(call, tid) end
  local begun = calls:take(tid)
  local send = begun or {from = field(fields.pid), name = field(fields.name), call = call,
                         group = field(fields.group)}
  local given = args_of(call) or send.given or {} -- in files of other tools, only the enter has arguments
  local failed = field(fields.result) ~= 0
  if send.pending or not begun then
    put_sent(send, given, failed and field(fields.error) or "sent", failed and "red" or nil)
  end
  send.pending, send.given = nil, given
  if not given.number or given.number == 0 then return end
  local key = given.pid and key_of(given)
  if failed then
    if key and to:get(key) == send then to:take(key) end
    return
  end
  send.ts = field(fields.time)
  if key then to:put(key, send) end
  if send.from then from:put(send.from .. ":" .. given.number, send) end
end

-- pidfd_open: remembers the receiver of signals to this pidfd.
local function on_pidfd()
  local field = evt.field
  local fd, pid = field(fields.result), field(fields.pid)
  if fd and fd >= 0 and pid then
    files:put(pid .. ":" .. fd, {pid = field(fields.to_pid), name = field(fields.to_name)})
  end
end

-- Returns the send of this signal to the process of the event: to its PID, TID or group, or to all.
-- except: skips this send, and those that were delivered to their only receiver (nil: skips none).
local function sent_to(number, except)
  local field, prefix = evt.field, space()
  local group = field(fields.group)
  local ids = {field(fields.pid) or 0, field(fields.tid) or 0, group and -group or 0, -1}
  if prefix ~= "" then
    for _, id in ipairs {field(fields.vpid) or 0, field(fields.vtid) or 0, -1} do ids[#ids + 1] = prefix .. id end
  end
  for _, id in ipairs(ids) do
    local send = to:get(id .. ":" .. number)
    if send and not (except and (send == except or send.is_delivered)) then return send end
  end
end

-- Returns the send of a signal that is delivered in a nested PID namespace. The event has the sender's PID in
-- that namespace: 0 stands for the kernel, and for every process outside of the namespace.
local function nested_send(number, pid)
  local send = sent_to(number, delivered:get(pid .. ":" .. number) or {})
  if send then return send end
  return {name = (number == SIGCHLD or sent_by_kernel[number]) and "kernel" or nil}
end

-- Returns the send of the signal that is delivered. Only SIGCHLD of the kernel has a PID: that of the child.
local function delivered_send(number, pid)
  if pid and is_nested() then return nested_send(number, pid) end
  local sender = evt.field(fields.sender)
  if sender == 0 then return {name = "kernel"} end
  local send = sent_to(number)
  if send and send.from == sender then return send end
  send = sender and from:get(sender .. ":" .. number)
  if send then return send end
  local is_kernel = sender and number == SIGCHLD
  return {from = sender, name = is_kernel and "kernel" or name_of(evt.field(fields.sender_name))}
end

local function on_delivery()
  local field = evt.field
  local number, pid = field(fields.sig), field(fields.pid)
  -- Each thread of a process that exits gets this one: procexit has the signal that ended the process.
  if not number or number == SIGKILL then return end
  local send = delivered_send(number, pid)
  if pid then
    to:put(pid .. ":" .. number, send) -- for on_death
    delivered:put(pid .. ":" .. number, send)
    send.is_delivered = send.given and (send.given.pid or 0) > 0
  end
  put_effect(send, number, "delivered")
end

-- Returns the send of the signal that ended the process.
local function fatal_send(number, pid)
  local send = sent_to(number)
  if send then return send end
  local limit = number == SIGKILL and pid and to:get(pid .. ":" .. SIGXCPU)
  local is_kernel = sent_by_kernel[number] or limit and limit.name == "kernel" and not limit.from
  return {name = is_kernel and "kernel" or nil}
end

local function on_death()
  local field = evt.field
  local number, pid = field(fields.sig), field(fields.pid)
  local send = fatal_send(number, pid)
  if pid then
    to:take(pid .. ":" .. number)
    to:take(pid .. ":" .. SIGXCPU)
    to:take(space() .. (field(fields.vpid) or pid) .. ":" .. number)
  end
  put_effect(send, number, "ended it", "yellow")
end

local handlers = {signaldeliver = on_delivery, procexit = on_death, pidfd_open = on_pidfd}

function on_event()
  local call = evt.field(fields.type)
  local handle = handlers[call] or on_send
  handle(call)
  return true
end

function on_capture_end() finish("no signals") end
