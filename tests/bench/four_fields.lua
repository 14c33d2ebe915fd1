-- SPDX-License-Identifier: Apache-2.0
-- For scripts/bench: asks for four fields of each event, and does nothing with them.
description = "Asks for four fields of each event."

local field = evt.field
local process = chisel.request_field("proc.name")
local file = chisel.request_field("fd.name")
local result = chisel.request_field("evt.rawarg.res")
local kind = chisel.request_field("evt.type")

function on_event()
  local a, b, c, d = field(process), field(file), field(result), field(kind)
  return false
end
