-- SPDX-License-Identifier: Apache-2.0
description = "Logs requests to memcached in its text protocol and their answers, on servers and on clients. SIZE is that of the object that was stored or found. Misses are yellow, errors are red."
short_description = "Log requests to memcached"
category = "Application"

local report = require "report"
local bounded = require "bounded"

local methods = {get = "get", gets = "get", gat = "get", set = "set", add = "set", replace = "set",
                 append = "set", prepend = "set", cas = "set", delete = "delete", incr = "incr",
                 decr = "incr", touch = "touch"}

local arg = report.args {
  {name = "method", optional = true, check = report.one_of {"get", "set", "delete", "incr", "touch"},
   description = "only get, set (all commands that store), delete, incr (and decr), or touch"},
  {name = "size", argtype = "int", default = 0, check = report.whole(0),
   description = "only objects of at least this many bytes"},
  report.color_arg,
}

local columns = report.with_container {
  {"TIME", name = "time", kind = "clock", width = 12},
  {"SIDE", name = "side", width = 6},
  {"PID", name = "pid", kind = "number", width = 7},
  {"PROCESS", name = "process", width = 15},
  {"LATENCY", name = "latency", kind = "time", width = 8},
  {"SIZE", name = "size", kind = "bytes", width = 6},
  {"ANSWER", name = "answer", width = 10},
  {"METHOD", name = "method"},
  {"KEY", name = "key"},
}
report.named(columns)

local handles, put, finish = {}, nil, nil
local pending = bounded(50000) -- by connection: the pending request

function on_init()
  handles = report.fields {
    time = "evt.rawtime", pid = "proc.pid", process = "proc.name", fd = "fd.num",
    connection = "fd.name", dir = "evt.io_dir", data = "evt.rawarg.data",
    ["container.name"] = "container.name",
  }
  chisel.set_filter("evt.dir=< and evt.is_io=true and evt.rawres>0 and fd.type in (ipv4, ipv6, unix)")
  sysdig.set_snaplen(1000)
  put, finish = report.object_log(columns)
  return true
end

local function request_of(line)
  local method, rest = line:match("^(%l+) (.*)$")
  if not method or not methods[method] then return nil end
  local key, size = rest, nil
  if methods[method] == "set" then key, size = rest:match("^(%S+) %d+ %-?%d+ (%d+)") end
  return key and {method = method, key = report.text(key), size = report.size(size)}
end

-- Returns the answer as a word, and the size of the found object.
local function answer_of(data)
  if data:find("^END") then return "miss" end
  if data:find("^VALUE ") then
    local size = 0
    for n in data:gmatch("VALUE %S+ %d+ (%d+)") do
      local one = report.size(n)
      if not one then return "hit" end
      size = size + one
    end
    return "hit", size
  end
  if data:find("^%d+\r") then return "ok" end
  return data:match("^[%u_]+")
end

local colors = {miss = "yellow", NOT_FOUND = "yellow", NOT_STORED = "yellow", EXISTS = "yellow",
                ERROR = "red", CLIENT_ERROR = "red", SERVER_ERROR = "red"}

local function done(r)
  if arg.method and methods[r.method] ~= arg.method then return end
  if arg.size > 0 and (r.size or 0) < arg.size then return end
  put(r, colors[r.answer])
end

function on_event()
  local data, dir = evt.field(handles.data), evt.field(handles.dir)
  if not data then return true end
  local key = ("%d %d %s"):format(evt.field(handles.pid) or -1, evt.field(handles.fd) or -1,
                                  evt.field(handles.connection) or "")
  local now, waits = evt.field(handles.time), pending:get(key)
  if waits and waits.dir ~= dir then
    pending:take(key)
    waits.answer, waits.found = answer_of(data)
    waits.size, waits.latency, waits.time = waits.found or waits.size, now - waits.time, now
    done(waits)
    return true
  end
  local request = request_of(data:match("^[^\r\n]*"))
  if request and not waits then
    request.time, request.dir, request.side = now, dir, dir == "write" and "client" or "server"
    for _, name in ipairs {"pid", "process", "container.name"} do
      request[name] = evt.field(handles[name])
    end
    pending:put(key, request)
  end
  return true
end

function on_capture_end() finish("no memcached requests") end
