-- SPDX-License-Identifier: Apache-2.0
description = "Shows the hosts that processes connect to with TLS, from the first message of each connection (client hello): the name of the server (SNI), the offered protocols (ALPN), the highest version, and the address. HOST is '-' if the message has no name. ECH after the version means that the true name is encrypted, and ... after the name that the capture has only part of the message."
short_description = "Show which processes connect to which TLS hosts"
category = "Net"

local report = require "report"
local bounded = require "bounded"
local tls = require "tls"

local SNAPLEN = 4000 -- a ClientHello with post-quantum keys has about 1700 bytes

local arg = report.args {
  {name = "name", optional = true, description = "only hosts with this text in their name"},
  report.color_arg,
}

local fields, put, finish = {}, nil, nil
local begun = bounded(1000) -- by file: the incomplete ClientHello so far

function on_init()
  fields = report.fields {
    time = "evt.rawtime", pid = "proc.pid", name = "proc.name", fd = "fd.num", file = "fd.name",
    ip = "fd.rip", port = "fd.rport", data = "evt.rawarg.data", len = "evt.buflen",
  }
  sysdig.set_snaplen(SNAPLEN)
  chisel.set_filter("evt.is_io_write=true and evt.dir=< and evt.rawres>0 and fd.l4proto=tcp")
  put, finish = report.event_log {
    {"TIME", name = "time", kind = "clock", width = 12},
    {"PID", name = "proc.pid", kind = "number", width = 7},
    {"PROCESS", name = "proc.name", width = 15},
    {"VERSION", name = "version", width = 8},
    {"ALPN", name = "alpn", width = 11},
    {"ADDRESS", name = "address", width = 21},
    {"HOST", name = "sni"},
    {name = "ech"}, {name = "partial"},
  }
  return true
end

local function put_hello(hello)
  if arg.name and not (hello.sni and hello.sni:find(arg.name, 1, true)) then return end
  local field = evt.field
  local version, alpn, sni = hello.version, hello.alpn, hello.sni
  if not report.is_json() then
    if hello.ech then version = (version or "-") .. " ECH" end
    alpn = alpn and table.concat(alpn, ",")
    if hello.partial then sni = (sni or "") .. "..." end
  end
  put({field(fields.time), field(fields.pid), field(fields.name), version, alpn,
       report.endpoint(field(fields.ip), field(fields.port)), sni, hello.ech, hello.partial})
end

function on_event()
  local field = evt.field
  local data, n = field(fields.data), field(fields.len)
  if not data or not n or #data == 0 then return true end
  local key = ("%s %s %s"):format(field(fields.pid), field(fields.fd), field(fields.file))
  local before = begun:get(key)
  if before then
    data = before .. data
  elseif not tls.may_begin(data) then
    return true
  end
  local no_more = #data - #(before or "") < n or #data >= tls.LONGEST
  local hello, why = tls.client_hello(data, no_more)
  if hello then
    put_hello(hello)
  elseif why == "more" and not no_more then
    begun:put(key, data)
    return true
  end
  if before then begun:take(key) end
  return true
end

function on_capture_end() finish("no TLS connections began") end
