-- SPDX-License-Identifier: Apache-2.0
description = "Counts HTTP/1 requests by method and URL, with the mean and the longest time until the answer began, the sizes of the answers as their headers state them, and the number of failures: a status of 400 or more, or no answer. A request between two processes of this machine counts twice, once at each end. Encrypted connections and HTTP/2 do not count."
short_description = "Top HTTP requests"
category = "Application"

local http = require "http"
local containers

-- Adds the keys and values of one exchange.
local function count(add, x)
  local key = {x.method, x.url}
  if containers then table.insert(key, 1, x.container or false) end
  add(key, 1, 1)
  if x.latency then
    add(key, 2, x.latency)
    add(key, 3, x.latency)
  end
  if x.size then add(key, 4, x.size) end
  if not x.status or x.status >= 400 then add(key, 5, 1) end
end

local function counter(add)
  return function(exchange) count(add, exchange) end
end

local spec = {
  nothing = "no HTTP requests",
  sort_as = "by",
  keys = {{"METHOD", name = "method", of = function() end}, {"URL", name = "url", of = function() end}},
  values = {
    {"CALLS", name = "ncalls"},
    {"MEAN", name = "time_ns", sort = "time", kind = "time", mean = true},
    {"SLOWEST", name = "slowest_ns", sort = "slowest", kind = "time", max = true},
    {"BYTES", name = "bytes", kind = "bytes", unknown = true},
    {"FAILED", name = "failed"},
  },
}

function spec.init()
  http.init()
  containers = sysdig.is_print_container_data()
end

function spec.event(add)
  http.event(counter(add))
  return false
end

-- Pending requests of a capture file count as well.
function spec.settle(add)
  if not sysdig.is_live() then http.rest(counter(add)) end
end

spec.lost = http.note

require "toplist"(spec)
