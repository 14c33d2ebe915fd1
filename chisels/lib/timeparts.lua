-- SPDX-License-Identifier: Apache-2.0
-- Divides a span of a thread's time into parts: require "timeparts". A part is {ns, label, kids}; kids are
-- parts again, of what the part waited for: another thread, or a request to another process.
--
-- Invariant: explain() adds each nanosecond of the span to exactly one part of each level, so the parts of
-- a level sum to the part above. A part whose kids sum to less was explained only in part.
--
-- parts.explain(store, request) returns the root for a request. store, which whystore.lua fills, has slices,
-- samples, calls and served (requests as client and as server) by TID, at_conn (requests as server by
-- connection), threads, and has_waits (whether any slice is a wait).
local threadlog = require "threadlog"
local spans = require "spans"
local owners = require "owners"
local parts = {}

local DEPTH_MAX, SAME_CONN_MAX, RESOURCES_MAX = 6, 100, 10
local search = threadlog.search

-- ---- parts ----

local function new(label) return {ns = 0, label = label, kids = {}, by = {}} end

-- Returns the kid of this key, with ns more.
local function add(part, key, label, ns)
  local kid = part.by[key]
  if not kid then
    kid = new(label)
    part.by[key], part.kids[#part.kids + 1] = kid, kid
  end
  kid.ns = kid.ns + ns
  return kid
end

-- Counts whose work the part waited for: the label can have the name with the most time.
local function count_name(part, name, ns)
  part.names = part.names or {}
  part.names[name] = (part.names[name] or 0) + ns
end

-- Returns the name with the most time, and that time.
function parts.main_name(part)
  local best
  for name, ns in pairs(part.names or {}) do
    if not best or ns > part.names[best] or ns == part.names[best] and name < best then best = name end
  end
  return best, best and part.names[best]
end

-- Adds the part `from` to the part `to`.
local function merge(to, from)
  to.ns = to.ns + from.ns
  for name, ns in pairs(from.names or {}) do count_name(to, name, ns) end
  for name, f in pairs(from.funcs or {}) do
    to.funcs = to.funcs or {}
    local sum = to.funcs[name] or {n = 0, weight = 0}
    sum.n, sum.weight, to.funcs[name] = sum.n + f.n, sum.weight + f.weight, sum
  end
  if from.calls then
    to.calls = to.calls or {n = 0}
    to.calls.n = to.calls.n + from.calls.n
  end
  for key, kid in pairs(from.by) do
    local sum = add(to, key, kid.label, 0)
    sum.kind, sum.is_place, sum.group = kid.kind, kid.is_place, kid.group
    merge(sum, kid)
  end
end

-- Makes one part of requests of the same method, if they have many resources.
local function merge_calls(part)
  local groups, kids = {}, {}
  for _, kid in ipairs(part.kids) do
    if kid.group then groups[kid.group] = (groups[kid.group] or 0) + 1 end
  end
  for _, kid in ipairs(part.kids) do
    local n = kid.group and groups[kid.group] or 0
    if n > RESOURCES_MAX then
      local key = "group " .. kid.group
      local sum = part.by[key] or new(("%s of %d resources"):format(kid.group, n))
      if not part.by[key] then part.by[key], kids[#kids + 1] = sum, sum end
      merge(sum, kid)
    else
      kids[#kids + 1] = kid
    end
  end
  part.kids = kids
  for _, kid in ipairs(kids) do merge_calls(kid) end
end

-- ---- what is known about threads ----

local Span = {} -- the time of one thread that is being explained
Span.__index = Span

-- Returns the name to show for a thread.
local function thread_name(store, tid, comm)
  local t = store.threads:get(tid)
  local name = comm or t and t.name or "thread"
  return ("%s (%d)"):format(name, tid)
end

-- Returns the name of a process, with that of the thread if it has another one.
local function place_name(store, tid)
  local t = store.threads:get(tid) or {}
  local name = ("%s (%s)"):format(t.process or "process", t.pid or "?")
  if t.pid == tid and (t.name == t.process or not t.name) then return name end
  return ("%s, thread %s"):format(name, thread_name(store, tid))
end

local function seen_at(r) return r.seen end

-- Returns the requests of a list that overlap [a, b), at most `max`, in the order in which they were seen.
local function overlapping(list, a, b, max)
  local found, i = {}, list and spans.next(list, search(list, a, seen_at), a, b)
  while i and #found ~= max do
    found[#found + 1] = list[i]
    i = spans.next(list, i + 1, a, b)
  end
  return found
end

local function slice_end(s) return s[2] end
local function sample_time(s) return s.ns end

-- Returns when the thread was woken by `waker` for the first time in [a, b), and the slice that this ended.
local function first_wake(store, tid, waker, a, b)
  local list = store.slices:of(tid)
  if not list then return nil end
  for i = search(list, a - 1, slice_end), list.last do
    local s = list[i]
    if s[2] >= b then return nil end
    if s.waker == waker then return s[2], s end
  end
end

-- ---- a span ----

local function span_of(store, tid, a, b, request, begin, depth, above)
  local span = setmetatable({store = store, tid = tid, a = a, b = b, request = request, begin = begin,
                             depth = depth, above = {[tid] = true},
                             wakes = {}, next_call = 1}, Span)
  for t in pairs(above or {}) do span.above[t] = true end
  return span
end

-- Finds the requests that the thread sent, and the times at which it works on others.
function Span:find_requests()
  local store, request = self.store, self.request
  local calls, others, of_call = overlapping(store.calls:of(self.tid), self.a, self.b), {}, nil
  local polls, list = {}, store.slices:of(self.tid)
  self.start = request and request.b
  for _, r in ipairs(request and overlapping(store.served:of(self.tid), self.a, self.b) or {}) do
    if r ~= request then others[#others + 1] = r end
  end
  if #others > 0 then
    for i = list and search(list, self.a, slice_end) or 1, list and list.last or 0 do
      if list[i][1] >= self.b then break end
      if list[i][3] == "poll" then polls[#polls + 1] = list[i][2] end
    end
    self.owned, of_call, self.start = owners(request, others, calls, polls)
  end
  self.calls = {}
  for _, call in ipairs(calls) do
    if not of_call or of_call[call] == request then self.calls[#self.calls + 1] = call end
  end
  table.sort(self.calls, function(x, y) return x.b < y.b end)
end

-- The times at which what the span is counted as changes, in order.
function Span:find_cuts()
  local cuts, r = {self.b}, self.request
  local function cut(ns) if ns and ns > self.a and ns < self.b then cuts[#cuts + 1] = ns end end
  for _, call in ipairs(self.calls) do
    cut(call.b)
    cut(call.e)
  end
  for _, o in ipairs(self.owned or {}) do cut(o.ns) end
  if r then
    cut(r.b)
    cut(r.sent)
    cut(r.answered)
    cut(r.e)
  end
  table.sort(cuts)
  self.cuts, self.cut = cuts, 1
  self.owner_at = 1
end

-- Returns whether the thread works on another request at `ns`, and which; false, nil if that is not known.
function Span:owner(ns)
  local owned = self.owned
  if not owned then return self.request end
  while owned[self.owner_at + 1] and owned[self.owner_at + 1].ns <= ns do self.owner_at = self.owner_at + 1 end
  return owned[self.owner_at].owner
end

-- Returns the request that the thread waits for at `ns`: of several, the one that is answered last. Times
-- do not decrease from call to call.
function Span:call_at(ns)
  local calls, last = self.calls, self.last_call
  while calls[self.next_call] and calls[self.next_call].b <= ns do
    local call = calls[self.next_call]
    if not last or call.e > last.e then last = call end
    self.next_call = self.next_call + 1
  end
  self.last_call = last
  return last and last.e > ns and last or nil
end

-- Whether a thread works for this one, which woke it: it waited already when the work of this one began.
-- A guess: this one may have woken it for another reason.
function Span:is_handed(tid, now)
  local wake = self.wakes[tid]
  if wake == nil then
    local woken, slice = first_wake(self.store, tid, self.tid, self.begin, self.b)
    wake = woken and slice[1] < self.begin and woken or false
    self.wakes[tid] = wake
  end
  return wake and wake < now
end

-- Explains what another thread did in [x, y).
function Span:descend(part, tid, x, y, request)
  if self.depth >= DEPTH_MAX or self.above[tid] then return end
  local span = span_of(self.store, tid, x, y, request, self.begin, self.depth + 1, self.above)
  span:explain(part)
end

-- ---- kinds of time ----

local function add_functions(part, list, x, y)
  for i = list and search(list, x - 1, sample_time) or 1, list and list.last or 0 do
    local s = list[i]
    if s.ns >= y then return end
    if s.func then
      part.funcs = part.funcs or {}
      local f = part.funcs[s.func] or {n = 0, weight = 0}
      f.n, f.weight, part.funcs[s.func] = f.n + 1, f.weight + s.weight, f
    end
  end
end

function Span:running(part, x, y)
  add_functions(add(part, "cpu", "on CPU", y - x), self.store.samples:of(self.tid), x, y)
end

function Span:runnable(part, slice, x, y)
  local kid = add(part, "run queue", "run queue", y - x)
  local behind = slice.behind
  if not behind then
    add(kid, "?", "behind a thread that is not known", y - x)
    return
  end
  local name = behind == 0 and "idle CPU" or slice.behind_comm or ("thread %d"):format(behind)
  count_name(kid, name, y - x)
  add(kid, name, "behind " .. name, y - x)
end

-- Returns key and label of what the slice waited for.
local waits = {
  lock = function(s)
    local lock = s.lock and ("lock 0x%x"):format(s.lock) or s.object and "lock of " .. s.object or "lock"
    return lock, lock
  end,
  sleep = function() return "sleep", "sleep" end,
  child = function(s) return "child " .. (s.waker or 0), "child process" end,
  page_fault = function() return "page fault", "page fault" end,
  file = function(s)
    local label = ("%s of %s"):format(s.call or "call", s.object or "a file")
    return "file " .. label, label
  end,
}

local function other_wait(s)
  local kind, call, object = s[3], s.call, s.object
  local label = object and ("%s %s"):format(kind, object) or call and ("%s in %s"):format(kind, call) or kind
  return label, label
end

-- Waiting for the client of the request itself, who sends or reads slowly. Returns whether it was that.
function Span:client(part, slice, x, y)
  local r = self.request
  if not r or (slice[3] ~= "network" and slice[3] ~= "poll") then return false end
  if slice[3] == "network" and slice.object and slice.object ~= r.conn then return false end
  if x >= r.b and y <= r.sent then
    add(part, "client sends", "client sends the request", y - x)
  elseif r.answered and x >= r.answered and y <= r.e then
    add(part, "client reads", "client reads the response", y - x)
  else
    return false
  end
  return true
end

function Span:wait(part, slice, x, y)
  local waker, kid = slice.waker, nil
  local is_other = waker and waker ~= 0 and waker ~= self.tid
  local name = is_other and thread_name(self.store, waker, slice.waker_comm)
  if is_other and slice[3] ~= "file" and slice[3] ~= "child"
     and self:is_handed(waker, slice[2]) then
    kid = add(part, "thread " .. waker, "work", y - x)
    kid.kind = "work"
  else
    local key, label = (waits[slice[3]] or other_wait)(slice)
    kid = add(part, key, label, y - x)
    kid.kind = slice[3]
  end
  if is_other then
    count_name(kid, name, y - x)
  elseif slice[3] == "lock" and waker == 0 then
    add(kid, "timeout", "until a timeout", y - x)
  end
  if is_other and slice[3] ~= "file" and slice[3] ~= "sleep" then self:descend(kid, waker, x, y) end
end

-- ---- requests to others ----

-- Returns the record of the other end of the call, if that is on this machine.
local function served_end(store, call)
  local best
  if call.served ~= nil then return call.served end
  for _, r in ipairs(call.conn and overlapping(store.at_conn:of(call.conn), call.b, call.e, SAME_CONN_MAX) or {}) do
    local shared = math.min(r.e, call.e) - math.max(r.b, call.b)
    if not best or shared > best.shared then best = {shared = shared, r = r} end
  end
  call.served = best and best.r or false
  return call.served
end

local function add_call(part, call, ns)
  local kid = add(part, "call " .. call.name, call.name, ns)
  kid.group = call.group
  kid.calls = kid.calls or {n = 0}
  if not kid.calls[call] then kid.calls[call], kid.calls.n = true, kid.calls.n + 1 end
  return kid
end

function Span:call(part, call, x, y)
  local kid = add_call(part, call, y - x)
  local r = served_end(self.store, call)
  if not r or self.depth >= DEPTH_MAX then return end
  local where = add(kid, "in " .. r.last_tid, "in " .. place_name(self.store, r.last_tid), y - x)
  where.is_place = true
  if self.above[r.tid] then return end
  self:descend_served(where, r, x, y)
end

-- The time before the other end read the request, the time of its work, and that after its response.
function Span:descend_served(part, r, x, y)
  local depth = self.depth + 1
  if x < r.e then
    parts.explain_request(self.store, r, part, x, math.min(y, r.e), depth, self.above)
  end
  local late = math.max(x, r.e)
  if late < y then add(part, "response", "response under way", y - late) end
end

-- ---- all of it ----

local DOWN = {network = true, poll = true, unknown = true}

-- Returns whether the thread waits for the next event, after it has read the request: it then works on no
-- request, even if another one was the last. Before that, it may wait on behalf of the other one.
function Span:is_idle(slice, x) return slice[3] == "poll" and self.request and x >= self.start end

-- Adds [x, y), in which the slice does not change what it is counted as.
function Span:add(part, slice, x, y)
  local owner, r, kind = self:owner(x), self.request, slice[3]
  if self:is_idle(slice, x) then owner = r end
  if owner and owner ~= r and kind ~= "unknown" then
    local kid = add(part, "busy", "busy with other requests", y - x)
    return add(kid, owner.name, owner.name, y - x)
  end
  local call = DOWN[kind] and owner == r and self:call_at(x)
  if call and (kind ~= "unknown" or not self.store.has_waits) then return self:call(part, call, x, y) end
  if kind == "unknown" then
    local is_early = r and y <= r.b and self.born and self.born >= y
    add(part, is_early and "request" or "unknown", is_early and "request under way" or "unknown", y - x)
  elseif kind == "running" then
    if owner == r then return self:running(part, x, y) end
    add(part, "cpu?", "on CPU for one of several requests ?", y - x)
  elseif kind == "runnable" then
    self:runnable(part, slice, x, y)
  elseif r and y <= r.b and DOWN[kind] then
    add(part, "request", "request under way", y - x)
  elseif not self:client(part, slice, x, y) then
    self:wait(part, slice, x, y)
  end
end

-- Adds [x, y) in pieces, as the cuts are.
function Span:add_pieces(part, slice, x, y)
  while x < y do
    while self.cuts[self.cut] <= x do self.cut = self.cut + 1 end
    local to = math.min(y, self.cuts[self.cut])
    self:add(part, slice, x, to)
    x = to
  end
end

local UNKNOWN = {0, 0, "unknown"}

function Span:explain(part)
  if self.a >= self.b then return end
  self:find_requests()
  self:find_cuts()
  local list, at, thread = self.store.slices:of(self.tid), self.a, self.store.threads:get(self.tid)
  self.born = thread and thread.born
  for i = list and search(list, self.a, slice_end) or 1, list and list.last or 0 do
    local s = list[i]
    if s[1] >= self.b then break end
    local x, y = math.max(s[1], at), math.min(s[2], self.b)
    if x > at then self:add_pieces(part, UNKNOWN, at, x) end
    if y > x then self:add_pieces(part, s, x, y) end
    at = math.max(at, y)
  end
  if at < self.b then self:add_pieces(part, UNKNOWN, at, self.b) end
  for _, call in ipairs(self.calls) do -- also those that were answered without a wait
    if call.b >= self.a then add_call(part, call, 0) end
  end
end

-- ---- threads of a request ----

-- Returns when the reading thread handed the request to the one that answered, and over which thread.
local function hand_over(store, r)
  local woken = first_wake(store, r.last_tid, r.tid, r.b, r.e)
  if woken then return {{tid = r.tid, to = woken}, {tid = r.last_tid, to = r.e}} end
  local list = store.slices:of(r.last_tid)
  for i = list and search(list, r.b, slice_end) or 1, list and list.last or 0 do
    local s = list[i]
    if s[2] >= r.e then break end
    local over = s.waker and s.waker ~= 0 and s.waker ~= r.last_tid and s.waker
    local first = over and first_wake(store, over, r.tid, r.b, s[2])
    if first then
      return {{tid = r.tid, to = first}, {tid = over, to = s[2], guess = true}, {tid = r.last_tid, to = r.e}}
    end
  end
  return {{tid = r.tid, to = math.min(r.sent, r.e)}, {tid = r.last_tid, to = r.e, guess = true}}
end

local function threads_of(store, r)
  if not r.tid or r.tid == r.last_tid then return {{tid = r.last_tid, to = r.e}} end
  return hand_over(store, r)
end

-- Adds the time [a, b) of a request to the part. Returns the threads that worked on it.
function parts.explain_request(store, r, part, a, b, depth, above)
  local threads, x = threads_of(store, r), a
  for i, t in ipairs(threads) do
    local y = i == #threads and b or math.max(x, math.min(t.to, b))
    t.ns = y - x
    span_of(store, t.tid, x, y, r, r.b, depth, above):explain(part)
    x = y
  end
  return threads
end

-- Explains a whole request.
function parts.explain(store, r)
  local root = new(r.name)
  root.ns = r.e - r.b
  local threads = parts.explain_request(store, r, root, r.b, r.e, 1)
  merge_calls(root)
  return root, threads
end

parts.thread_name, parts.place_name = thread_name, place_name
return parts
