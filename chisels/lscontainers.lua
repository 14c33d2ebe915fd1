-- SPDX-License-Identifier: Apache-2.0
description = "Lists containers. A live list has the running containers, and is printed when all of them have a name, or after two seconds. The list of a capture file has every container in it."
short_description = "List containers"
category = "Containers"

local report = require "report"

local arg = report.args {
  {name = "desc", default = "", check = report.one_of {"desc"},
   description = "desc: every detail of each container, as a line of JSON"},
}

local columns = {
  {title = "ID", name = "id"},
  {title = "TYPE", name = "type"},
  {title = "NAME", name = "name", whole = true},
  {title = "IMAGE", name = "image"},
}
local WAIT_S = 2

local function list()
  local all = sysdig.get_container_table()
  table.sort(all, function(a, b) return a.id < b.id end)
  return all
end

-- The names of containers are looked up in the background, and come later.
local function has_names()
  for _, container in ipairs(list()) do
    if container.name == "" or container.name == container.id then return false end
  end
  return true
end

local function put()
  local rows = {}
  for i, container in ipairs(list()) do
    if arg.desc == "desc" then report.print_json(container) end
    rows[i] = {}
    for n, c in ipairs(columns) do
      local value = container[c.name]
      if c.name == "name" and value == "" then value = container.id end
      if value ~= "" then rows[i][n] = report.text(value) end
    end
  end
  if arg.desc ~= "desc" then report.put_once(columns, rows) end
end

local began

function on_capture_start()
  if sysdig.is_live() and has_names() then sysdig.end_capture() end
  return true
end

function on_event()
  if not sysdig.is_live() then return false end
  local now = evt.get_ts()
  began = began or now
  if now - began >= WAIT_S or has_names() then sysdig.end_capture() end
  return false
end

on_capture_end = put
