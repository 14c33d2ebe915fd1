-- SPDX-License-Identifier: Apache-2.0
-- Which of several requests a thread works on: require "owners". A thread that serves several requests
-- at the same time (an event loop) works on the one whose bytes it read or wrote last, until that one
-- ends, or until the thread waits for any of several things (poll).
--
-- owners(request, others, calls, polls) returns a list of {ns, owner}, in the order of time: from `ns` on
-- the thread works on `owner`. nil: it is not known on which. While no other request is open, it is
-- `request`. It also returns the owners of the calls, and when work on `request` could begin. Requests are
-- {b, e, sent, answered, conn}: begin, end, the last byte of the request, the first of the response.
-- calls: requests that the thread sent itself. polls: times at which poll ended.

-- A request behind another one of the same connection is worked on after it.
local function starts_of(requests)
  local starts, last = {}, {}
  table.sort(requests, function(x, y)
    if x.b ~= y.b then return x.b < y.b end
    return x.e < y.e
  end)
  for _, r in ipairs(requests) do
    local before = r.conn and last[r.conn]
    starts[r] = before and math.max(r.b, math.min(before, r.e)) or r.b
    if r.conn then last[r.conn] = math.max(before or 0, r.e) end
  end
  return starts
end

local OPEN, TOUCH, CALL, ANSWER, POLL, CLOSE = 1, 2, 3, 4, 5, 6

local function marks_of(requests, starts, calls, polls)
  local marks = {}
  local function mark(ns, what, of) marks[#marks + 1] = {ns = ns, what = what, of = of, at = #marks} end
  for _, r in ipairs(requests) do
    mark(starts[r], OPEN, r)
    if r.sent > starts[r] and r.sent < r.e then mark(r.sent, TOUCH, r) end
    if r.answered and r.answered > starts[r] and r.answered < r.e then mark(r.answered, TOUCH, r) end
    mark(r.e, CLOSE, r)
  end
  for _, call in ipairs(calls) do
    mark(call.b, CALL, call)
    mark(call.e, ANSWER, call)
  end
  for _, ns in ipairs(polls) do mark(ns, POLL) end
  table.sort(marks, function(x, y)
    if x.ns ~= y.ns then return x.ns < y.ns end
    if x.what ~= y.what then return x.what < y.what end
    return x.at < y.at
  end)
  return marks
end

return function(request, others, calls, polls)
  local all = table.move(others, 1, #others, 2, {request})
  local starts = starts_of(all)
  local list, owner, open, n_open, of_call = {{ns = 0, owner = request}}, nil, {}, 0, {}
  local apply = {
    [OPEN] = function(r)
      if r ~= request then n_open = n_open + 1 end
      open[r], owner = true, r
    end,
    [TOUCH] = function(r) owner = r end,
    [CALL] = function(call) of_call[call] = owner end,
    [ANSWER] = function(call) owner = open[of_call[call]] and of_call[call] or owner end,
    [POLL] = function() owner = nil end,
    [CLOSE] = function(r)
      if r ~= request then n_open = n_open - 1 end
      open[r] = nil
      if owner == r then owner = nil end
    end,
  }
  for _, m in ipairs(marks_of(all, starts, calls, polls)) do
    apply[m.what](m.of)
    local now = owner
    if n_open == 0 then now = request end
    if list[#list].owner ~= now then list[#list + 1] = {ns = m.ns, owner = now} end
  end
  return list, of_call, starts[request]
end
