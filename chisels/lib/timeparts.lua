-- SPDX-License-Identifier: Apache-2.0
-- Divides a span of a thread's time into parts: require "timeparts". A part is {ns, label, kids}; kids are
-- parts again, of what the part waited for: another thread, or a request to another process.
--
-- Invariant: explain() adds each nanosecond of the span to exactly one part of each level, so the parts of
-- a level sum to the part above. A part whose kids sum to less was explained only in part.
--
-- parts.explain(store, request, begin) returns the root for a request. store, which whystore.lua fills, has slices
-- (slicelog.lua), samples, calls and served (requests as client and as server: requestlog.lua), and store:thread(TID).
local threadlog = require "threadlog"
local owners = require "owners"
local report = require "report"
local parts = {}

local DEPTH_MAX, SAME_CONN_MAX, RESOURCES_MAX = 6, 100, 10
local TURN_SLACK_NS = 1000000 -- between what a thread did and when it was seen
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

-- Returns the name with the most time, that time, and the time of all names.
function parts.main_name(part)
  local best, sum = nil, 0
  for name, ns in pairs(part.names or {}) do
    sum = sum + ns
    if not best or ns > part.names[best] or ns == part.names[best] and name < best then best = name end
  end
  return best, best and part.names[best], sum
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
  for name, f in pairs(from.below or {}) do
    to.below = to.below or {}
    local sum = to.below[name] or {weight = 0, depth = 0}
    sum.weight, sum.depth, to.below[name] = sum.weight + f.weight, math.max(sum.depth, f.depth), sum
  end
  if from.calls then
    to.calls = to.calls or {n = 0}
    to.calls.n = to.calls.n + from.calls.n
  end
  if from.timeout_ns then to.timeout_ns = (to.timeout_ns or 0) + from.timeout_ns end
  if from.times then to.times = (to.times or 0) + from.times end
  for key, kid in pairs(from.by) do
    local sum = add(to, key, kid.label, 0)
    sum.kind, sum.is_place, sum.group, sum.server, sum.error = kid.kind, kid.is_place, kid.group, kid.server, kid.error
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

-- A request that asks again and again, and sleeps in between: notes what it asks for at the part of the sleep. Of calls
-- that failed, one may be enough.
local POLLS_LEAST, POLLS_MORE = 3, 2

local function is_polled(call, times)
  local n = call.calls and call.calls.n or 0
  if call.error then return times > 0 and n > 0 and n >= times - 1 and n <= times + 1 end
  return times >= POLLS_LEAST and n >= times - 1 and n <= times + POLLS_MORE
end

local function name_polls(root)
  local calls = {}
  for _, part in ipairs(root.kids) do
    if part.calls then calls[#calls + 1] = part end
  end
  for _, part in ipairs(root.kids) do
    local times = (part.kind == "sleep" or part.kind == "timed" or part.label:find("^timer of ")) and part.times or 0
    for _, kid in ipairs(times > 0 and calls or {}) do
      if is_polled(kid, times) then part.between = kid.label end
    end
  end
end

-- ---- what is known about threads ----

local Span = {} -- the time of one thread that is being explained
Span.__index = Span

-- Returns the name to show for a thread: comm, if it is given, is the one at the time of a slice, without the script.
local function thread_name(store, tid, comm)
  local t = store:thread(tid)
  local name = t and t.name and (not comm or t.name:sub(1, #comm) == comm) and t.name or comm or "thread"
  return ("%s (%d)"):format(name:gsub(" +$", ""), tid)
end

-- Returns the name of a process, with that of the thread if it has another one.
local function place_name(store, tid)
  local t = store:thread(tid) or {}
  local name = ("%s (%s)"):format(t.process or "process", t.pid or "?")
  if t.pid == tid and (t.name == t.process or not t.name) then return name end
  return ("%s, thread %s"):format(name, thread_name(store, tid))
end

-- Returns the requests of a list of the log that overlap [a, b), at most `max`.
local function overlapping(list, a, b, max) return list and list:overlapping(a, b, max) or {} end

local function slice_end(s) return s[2] end

-- Whether the slice is a wait for any of several descriptors, in a loop of events as a rule: of one only, it
-- has that one's kind.
local WATCHES = {poll = true, ppoll = true, select = true, _newselect = true, pselect6 = true, epoll_wait = true,
                 epoll_pwait = true, epoll_pwait2 = true}
local function is_watch(s) return s[3] == "poll" or s[3] == "sleep" and s.timed_out and WATCHES[s.call] or false end
local function has_set_only(s) return not s.object or s.object:find("^fd ") end -- the descriptor of the set says nothing
local function is_watch_of_many(s) return is_watch(s) and has_set_only(s) end
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
                             wakes = {}, scans = store.scans, next_call = 1}, Span)
  for t in pairs(above or {}) do span.above[t] = true end
  return span
end

-- A loop that has a pool of connections sends the next request as soon as a connection is free: the requests before
-- it on the connection, of others, are what it waited for. A guess.
local REUSE_MAX_NS = 50000000

-- Whether the thread began the call when it had read the response of the one before, without a wait in between.
local function is_next(before, call, polls)
  if before.e > call.b or call.b - before.e > REUSE_MAX_NS then return false end
  for _, ns in ipairs(polls) do
    if ns > before.e and ns <= call.b then return false end
  end
  return true
end

-- Whether the request is the only one of its thread that was open during the call, and none of `others` was.
local function is_alone(request, others, call)
  for _, r in ipairs(others) do
    if r.b <= call.b and r.e >= call.e then return false end
  end
  return request.b <= call.b and request.e >= call.e
end

-- Returns the calls that came right before others on the same connection. The thread begins such a call when it
-- works on the request of the one before, whose response it sends: it is that of another request.
function Span:reused(calls, others, of_call, polls)
  local before, last, r = {}, {}, self.request
  table.sort(calls, function(x, y) return x.b < y.b end)
  for _, call in ipairs(calls) do
    local p = call.conn and last[call.conn] or call.peer and last[call.peer]
    if p and of_call[p] ~= r and is_next(p, call, polls) then
      before[call] = p
      local owner = of_call[call]
      if owner ~= r and (not owner or owner.e < call.e) and is_alone(r, others, call) then of_call[call] = r end
    end
    if call.conn then last[call.conn] = call end
    if call.peer then last[call.peer] = call end -- a server that closes connections gets the next one
  end
  return before
end

-- Returns the requests of others that this one waited for, as {b, e, call}.
function Span:queued_behind(before, of_call)
  local queued = {}
  for _, call in ipairs(self.calls) do
    local e, p = call.b, before[call]
    while p and of_call[p] ~= self.request and e > self.start do
      queued[#queued + 1] = {b = math.max(p.b, self.start), e = e, call = p}
      e, p = p.b, before[p]
    end
  end
  return queued
end

function Span:queued_at(ns)
  for _, q in ipairs(self.queued) do
    if q.b <= ns and ns < q.e then return q.call end
  end
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
      if is_watch(list[i]) then polls[#polls + 1] = list[i][2] end
    end
    self.owned, of_call, self.start = owners(request, others, calls, polls)
  end
  self.calls, self.foreign, self.others = {}, {}, others
  local before = of_call and self:reused(calls, others, of_call, polls)
  for _, call in ipairs(calls) do
    -- What was sent before the request came is not its own.
    local is_own = (not of_call or of_call[call] == request) and not (request and call.b < request.b)
    local list = is_own and self.calls or self.foreign
    list[#list + 1] = call
  end
  table.sort(self.calls, function(x, y) return x.b < y.b end)
  self.of_call = of_call or {}
  self.queued = before and self:queued_behind(before, of_call) or {}
end

-- The times at which what the span is counted as changes, in order.
function Span:find_cuts()
  local cuts, r = {self.b}, self.request
  local function cut(ns) if ns and ns > self.a and ns < self.b then cuts[#cuts + 1] = ns end end
  for _, call in ipairs(self.calls) do
    cut(call.b)
    cut(call.sent)
    cut(call.answered)
    cut(call.e)
  end
  for _, call in ipairs(self.foreign) do cut(call.b) end
  for _, o in ipairs(self.owned or {}) do cut(o.ns) end
  for _, q in ipairs(self.queued) do
    cut(q.b)
    cut(q.e)
  end
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

-- As first_wake, of this thread's work until now. Each span of a thread asks again: a scan goes on where it ended.
function Span:first_wake(tid)
  local key, list = self.begin .. " " .. self.tid .. " " .. tid, self.store.slices:of(tid)
  if not list then return nil end
  local scan = self.scans[key] or {at = search(list, self.begin - 1, slice_end)}
  self.scans[key] = scan
  while scan.at <= list.last and list[scan.at].waker ~= self.tid and list[scan.at][2] < self.b do scan.at = scan.at + 1 end
  local s = list[scan.at]
  if s and s.waker == self.tid and s[2] < self.b then return s[2], s end
end

-- Returns when this thread woke the other one for its work, and the wait that this ended; false: it did not. The
-- other one waited already when the work of this one began, or is younger than that (is_new). A guess: this one may
-- have woken it for another reason.
function Span:woken(tid)
  local wake = self.wakes[tid]
  if wake == nil then
    local woken, slice = self:first_wake(tid)
    local thread = woken and self.store:thread(tid)
    local is_new = thread and (thread.born or 0) >= self.begin
    wake = woken and (is_new or slice[1] < self.begin) and {ns = woken, slice = slice, is_new = is_new} or false
    self.wakes[tid] = wake
  end
  return wake
end

-- Whether a thread works for this one, which woke it, and then began to wait. If it is new, the wait is that of a
-- loop: others may have started it for something else.
function Span:is_handed(tid, slice)
  local wake = self:woken(tid)
  return wake and wake.ns < slice[2] and (not wake.is_new or is_watch_of_many(slice))
end

-- Whether the other thread, which was woken, has not gone back to its wait until `ns`. wake.at: where that was searched.
function Span:works_on(wake, tid, ns)
  local list, woken = self.store.slices:of(tid), wake.slice
  if not list then return true end
  local function is_back(s) return s[3] == woken[3] and s.call == woken.call and s.lock == woken.lock end
  wake.at = wake.at or search(list, wake.ns, slice_end)
  while wake.at <= list.last and list[wake.at][1] < ns and not is_back(list[wake.at]) do wake.at = wake.at + 1 end
  return wake.at > list.last or list[wake.at][1] >= ns
end

-- Whether a timer of the loop, or work, leaves the request as it is: the loop waits again.
function Span:goes_on(s)
  local r = self.request
  if s[1] >= self.b or r and r.answered and r.answered < s[2] then return false end
  return s[3] == "running" or s[3] == "runnable" or is_watch(s) and (s.waker or 0) == 0
end

-- Whether the thread did something, and did not wait for work.
local function is_busy_at(store, tid, ns)
  local list = store.slices:of(tid)
  local s = list and list[search(list, ns, slice_end)]
  return s and s[1] <= ns and s[3] ~= "lock" and s[3] ~= "unknown" and not is_watch(s)
end

-- Returns the thread that works for this one when a timer of its loop ends the wait `slice`, which changes nothing
-- for the request: the loop waits again, until that thread wakes it. A guess. All timers until then have the same end.
function Span:works_meanwhile(slice)
  local list, r = self.store.slices:of(self.tid), self.request
  local at = search(list, slice[2], slice_end)
  if not self.timers or at < self.timers.first or at > self.timers.e then
    local timers = {first = at, e = at, ran = {[at] = 0}} -- ran: how long the thread ran before a slice
    while list[timers.e] and self:goes_on(list[timers.e]) do
      local s = list[timers.e]
      timers.ran[timers.e + 1] = timers.ran[timers.e] + (s[3] == "running" and s[2] - s[1] or 0)
      timers.e = timers.e + 1
    end
    self.timers = timers
  end
  local s = list[self.timers.e]
  if not s or s[1] >= self.b or r and r.answered and r.answered < s[2] then return nil end
  if not is_watch(s) or (s.waker or 0) == 0 then return nil end
  local wake = self:woken(s.waker)
  if wake and wake.ns < slice[2] and self:works_on(wake, s.waker, slice[2]) then return s.waker end
  local is_joined = #self.others == 0 and (not slice.timed_out or is_busy_at(self.store, s.waker, slice[2]))
  return is_joined and self:waits_on(slice, list, at) and s.waker or nil
end

-- Whether the thread, which has no other request, did nothing but wait for the same again and again: PostgreSQL looks
-- for a deadlock meanwhile, for example. Then the thread that ends the last wait ended them all. A guess.
local BUSY_SHARE = 10

function Span:waits_on(slice, list, at)
  local timers = self.timers
  local last = list[timers.e]
  if last.call ~= slice.call or last.object ~= slice.object then return false end
  return timers.ran[timers.e] - timers.ran[at] <= (last[2] - slice[1]) / BUSY_SHARE
end

-- Explains what another thread did in [x, y).
function Span:descend(part, tid, x, y, request)
  if self.depth >= DEPTH_MAX or self.above[tid] then return end
  local span = span_of(self.store, tid, x, y, request, self.begin, self.depth + 1, self.above)
  span:explain(part)
end

-- ---- kinds of time ----

-- Counts the sample for each function of its stack once: part.below has them by name, with how deep they are.
local function add_frames(part, sample)
  local seen = {}
  part.below = part.below or {}
  for depth, name in ipairs(sample.frames or {}) do
    local f = part.below[name] or {weight = 0, depth = 0}
    if not seen[name] then f.weight = f.weight + sample.weight end
    seen[name], f.depth, part.below[name] = true, math.max(f.depth, depth), f
  end
end

local function add_functions(part, list, x, y)
  for i = list and search(list, x - 1, sample_time) or 1, list and list.last or 0 do
    local s = list[i]
    if s.ns >= y then return end
    if s.func then
      part.funcs = part.funcs or {}
      local f = part.funcs[s.func] or {n = 0, weight = 0}
      f.n, f.weight, part.funcs[s.func] = f.n + 1, f.weight + s.weight, f
      add_frames(part, s)
    end
  end
end

-- The function in which the thread began the wait: that of an off-CPU sample.
local BEGIN_SLACK_NS = 200000
local PLACE_N = 2 -- samples that a place counts as: it is certain

local function add_place(part, list, slice, ns)
  local s = list and list[search(list, slice[1] + BEGIN_SLACK_NS, sample_time) - 1]
  if not s or not s.func or s.ns < slice[1] - BEGIN_SLACK_NS then return end
  part.funcs = part.funcs or {}
  local f = part.funcs[s.func] or {n = 0, weight = 0}
  f.n, f.weight, part.funcs[s.func] = f.n + PLACE_N, f.weight + ns, f
end

function Span:running(part, x, y)
  add_functions(add(part, "cpu", "on CPU", y - x), self.store.samples:of(self.tid), x, y)
end

function Span:runnable(part, slice, x, y)
  local kid = add(part, "run queue", "run queue", y - x)
  local behind = slice.behind
  if not behind then
    add(kid, "?", "behind others", y - x) -- several, or unknown
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
  sleep = function(s)
    if is_watch(s) and s.timed_out then return "timer", ("timer of %s"):format(s.call) end
    if s.object then return s.object, "timer " .. s.object end
    return "sleep", "sleep"
  end,
  network = function(s)
    local label = s.object and "network " .. s.object or "network in " .. (s.call or "a call")
    return label, label
  end,
  child = function(s) return "child " .. (s.waker or 0), "child process" end,
  stopped = function() return "stopped", "stopped by a signal or a debugger" end,
  frozen = function() return "frozen", "frozen with its cgroup" end,
  throttled = function() return "throttled", "throttled by the CPU quota of its cgroup" end,
  page_fault = function() return "page fault", "page fault" end,
  file = function(s)
    local label = ("%s of %s"):format(s.call or "call", s.object or "a file")
    return "file " .. label, label
  end,
}

-- A wait on a futex that ended by its timeout: of a condition variable, or a sleep. No thread holds a lock.
local function timed_wait() return "timed wait", "wait for a timeout (futex)" end

-- Goroutines change threads, so no thread holds what the request waits for.
local function go_wait() return "go", "goroutine parked ?" end

-- The wait of CPython for its interpreter: it asks for it every 5 ms, until the thread that runs lets go.
local function gil_wait() return "gil", "GIL" end

-- What the thread polls, a lock of a file, a path, a child: it sleeps in between.
local LOCKS = {fcntl = true, flock = true}

local function polled_wait(s)
  local label = LOCKS[s.polled_call] and ("lock of %s ?"):format(s.polled)
                or ("sleep while %s of %s fails%s"):format(s.polled_call or "a call", s.polled, s.polled_error and " with " .. s.polled_error or "")
  return label, label
end

local function child_wait(s) return "child " .. s.child, s.child == 0 and "child process ?" or "child process" end

-- The end of a connect; of one among others that the thread watched it is a guess.
local function connect_wait(s)
  local peer = s.object and (s.object:match("%->(.+)$") or s.object) or "a peer"
  local label = "connect to " .. peer .. (s.connecting == 1 and "" or " ?")
  return label, label
end

local WRITES = {write = true, writev = true, pwritev2 = true, splice = true, sendfile = true, tee = true, vmsplice = true}

-- Whether the thread writes to a pipe that holds no more.
local function is_full(s) return s[3] == "pipe" and WRITES[s.call] or false end

local function other_wait(s)
  local kind, call, object = s[3], s.call, s.object
  if kind == "poll" then
    if s.timed_out and call then return "timer ?", ("timer of %s ?"):format(call) end
    object, call = not has_set_only(s) and object, nil
  end
  local what = kind == "other" and "wait" or is_full(s) and "full pipe" or kind
  local label = object and ("%s %s"):format(what, object) or call and ("%s in %s"):format(what, call) or kind
  return label, label
end

-- Returns the client's record of the request, if that is on this machine.
local function find_asked(store, r)
  local best
  for _, call in ipairs(r.key and overlapping(store.calls:of(r.key), r.b, r.e, SAME_CONN_MAX) or {}) do
    if call.name == r.name and call.b <= r.b and (not best or call.b > best.b) then best = call end
  end
  return best
end

local function asked_end(store, r)
  if r.asked == nil then r.asked = find_asked(store, r) or false end
  return r.asked
end

-- What the client did, if it is on this machine, until it had sent all.
function Span:client_sends(part, x, y)
  local call = asked_end(self.store, self.request)
  local sent = call and math.max(x, math.min(call.sent, y)) or y
  if sent > x then
    local kid = add(part, "client sends", "client sends the request", sent - x)
    if call then self:descend(kid, call.last_tid, x, sent) end
  end
  if sent < y then add(part, "request", "request under way", y - sent) end
end

-- Waiting for the client of the request itself, who sends or reads slowly. Returns whether it was that.
function Span:client(part, slice, x, y)
  local r = self.request
  if not r or (slice[3] ~= "network" and not is_watch(slice)) then return false end
  if slice[3] == "network" and slice.object and slice.object ~= r.conn then return false end
  if x >= r.b and y <= r.sent then
    self:client_sends(part, x, y)
  elseif r.answered and x >= r.answered and y <= r.e then
    add(part, "client reads", "client reads the response", y - x)
  else
    return false
  end
  return true
end

-- Returns the thread of the process that ran most in [x, y); nil: none did.
local function who_ran(store, tid, x, y)
  local thread = store:thread(tid)
  return thread and thread.pid and store.slices:who_ran(thread.pid, tid, x, y)
end

-- Whether the thread did the kernel's work, for whoever it was.
local function is_of_kernel(store, tid, comm)
  local name = (store:thread(tid) or {}).name or comm or ""
  return (name:find("^ksoftirqd/") or name:find("^kworker/")) ~= nil
end

-- Returns the thread that the slice waited for, nil if there is none, and its name.
function Span:waited_for(slice, x, y)
  local waker, store = slice.waker, self.store
  if slice.polls_child then
    return slice.child, slice.child ~= 0 and thread_name(store, slice.child, slice.child_comm) .. " ?"
  end
  if slice.is_gil then
    local tid = who_ran(store, self.tid, x, y)
    return tid, tid and thread_name(store, tid) .. " ?"
  end
  if waker == 0 and is_watch(slice) then
    waker = self:works_meanwhile(slice)
    if not waker and not slice.timed_out then return nil end
    -- The timer changed nothing for the request if the thread that ended its last wait was busy all the time.
    if not waker and self.answered_by and is_busy_at(store, self.answered_by, slice[2]) then waker = self.answered_by end
    return waker, waker and thread_name(store, waker)
  end
  if not waker or waker == 0 or waker == self.tid or is_of_kernel(store, waker, slice.waker_comm) then return nil end
  if slice[3] == "file" and not (store:thread(waker) or {}).has_exe then return nil end -- it may be of the kernel
  local how = slice.waker_call and (slice.waker_file and ", in %s of %s" or ", in %s"):format(slice.waker_call, slice.waker_file) or ""
  return waker, thread_name(store, waker, slice.waker_comm) .. how
end

local HANDED = {network = true, lock = true, poll = true, pipe = true, other = true}

-- Returns the part of a wait.
function Span:wait_part(part, slice, waker, ns)
  if (HANDED[slice[3]] or is_watch(slice)) and waker and not slice.is_gil and self:is_handed(waker, slice) then
    local kid = add(part, "thread " .. waker, "work", ns)
    kid.kind = "work"
    return kid
  end
  local is_timed = slice[3] == "lock" and slice.lock and slice.waker == 0 and not slice.owner and not slice.is_gil
  local describe = slice.connecting and connect_wait or slice.is_gil and gil_wait or slice.polls_child and child_wait
                   or slice.polls and polled_wait or is_timed and timed_wait
                   or self.store:is_of_go(self.tid, slice) and go_wait or waits[slice[3]] or other_wait
  local key, label = describe(slice)
  if waker and slice.waker == 0 and is_watch(slice) and has_set_only(slice) then key, label = "poll", "poll" end
  local kid = add(part, key, label, ns)
  kid.kind = is_timed and "timed" or slice.polls_child and "child" or is_full(slice) and "full pipe"
             or describe == go_wait and "go" or slice[3]
  if kid.last ~= slice then kid.times, kid.last = (kid.times or 0) + 1, slice end
  return kid
end

-- Returns the request that the thread served for most of [x, y), in which this one waited for it; nil: none, or
-- it served several at a time. Requests of unknown content have no name.
local HAS_NO_NAME = {generic = true, tls = true}

function Span:served_meanwhile(tid, x, y)
  local store, best, most, sum = self.store, nil, 0, 0
  for _, call in ipairs(overlapping(store.calls:of(tid), x, y, SAME_CONN_MAX)) do
    if self.request and call.conn == self.request.conn then return nil end -- the client of this request
  end
  for _, r in ipairs(overlapping(store.served:of(tid), x, y, SAME_CONN_MAX)) do
    local ns = r ~= self.request and math.min(r.e, y) - math.max(r.b, x) or 0
    sum = sum + ns
    if ns > most then best, most = r, ns end
  end
  if most < (y - x) / 2 or sum > y - x or not best.proto or HAS_NO_NAME[best.proto] then return nil end
  return best
end

-- Returns the request whose thread gave the other one the work that it did for most of [x, y), as to a thread of a pool:
-- it woke that one before, and its request went on. A guess.
local HANDED_MAX = 50

function Span:handed_meanwhile(tid, x, y)
  local store, list = self.store, self.store.slices:of(tid)
  local last = list and search(list, x, slice_end) - 1 or 0
  for i = last, math.max(list and list.first or 1, last - HANDED_MAX), -1 do
    local s = list[i]
    local from = s.waker and s.waker ~= 0 and s.waker ~= self.tid and s.waker
    for _, r in ipairs(from and overlapping(store.served:of(from), s[2], s[2] + 1, SAME_CONN_MAX) or {}) do
      if r ~= self.request and r.e >= x + (y - x) / 2 and r.proto and not HAS_NO_NAME[r.proto] then return r end
    end
  end
end

local NAMES_REQUEST = {lock = true, poll = true, pipe = true, ["full pipe"] = true, other = true}

-- Counts the thread, with the request that it served meanwhile.
function Span:count_thread(part, tid, name, x, y)
  local names = tid and NAMES_REQUEST[part.kind]
  local r = names and self:served_meanwhile(tid, x, y)
  local given = names and self.request and not r and self:handed_meanwhile(tid, x, y)
  count_name(part, given and ("%s, for %s ?"):format(name, given.name) or r and ("%s, in %s"):format(name, r.name) or name, y - x)
end

-- Whether the object of a wait is the connection: that of a socket of Unix has a path behind its addresses.
local function is_conn(object, conn)
  return object == conn or conn ~= nil and object:find(conn, 1, true) == 1
end

-- Returns the request of the list that ended last, until `ns`, but for one; with `object` the last of that connection. A
-- request is seen when it ends, or a little later.
local function last_ended(list, ns, but, object)
  local at, last = list:after(ns), nil
  for i = math.max(list.first, at - SAME_CONN_MAX), math.min(list.last, at + SAME_CONN_MAX) do
    local r = list[i]
    local fits = r ~= but and r.e <= ns and (not object or is_conn(object, r.conn))
    if fits and (not last or r.e > last.e) then last = r end
  end
  return last
end

-- Returns the last request that the thread served, if it waits for the next one of that client in [x, y).
function Span:idle_after(slice, x)
  if self.request or slice[3] ~= "network" and not is_watch(slice) then return nil end
  local list = self.store.served:of(self.tid)
  if not list or #overlapping(list, x, x + 1, 1) > 0 then return nil end
  local last = last_ended(list, x)
  if not last or slice[3] == "network" and slice.object and not is_conn(slice.object, last.conn) then return nil end
  return last
end

-- Returns the last request of the connection that the thread waits for, if that is not the one of its request, which it
-- has not read yet: a worker that a client keeps.
function Span:kept_by(slice)
  local object, list = slice[3] == "network" and slice.object, self.store.served:of(self.tid)
  if not object or not list or is_conn(object, self.request.conn) then return nil end
  return last_ended(list, slice[1] + TURN_SLACK_NS, self.request, object)
end

-- A thread that holds something and waits for its client, as in an open transaction.
function Span:wait_for_client(part, r, x, y)
  local list, asked = r.conn and self.store.calls:of(r.key), nil
  if list then asked = list[list.last] end
  local who = asked and thread_name(self.store, asked.last_tid) or r.peer_proc or r.peer or "?"
  local whose = self.request and "another client," or "its client"
  local kid = add(part, "client " .. r.name, ("%s %s, idle after %s"):format(whose, who, r.name), y - x)
  if asked then self:descend(kid, asked.last_tid, x, y) end
end

local function is_same_process(store, tid, other)
  local a, b = store:thread(tid), store:thread(other)
  return a and b and a.pid == b.pid
end

function Span:wait(part, slice, x, y)
  local before = self:idle_after(slice, x)
  if before then return self:wait_for_client(part, before, x, y) end
  local tid, name = self:waited_for(slice, x, y)
  local kid = self:wait_part(part, slice, tid, y - x)
  add_place(kid, self.store.places and self.store.places:of(self.tid), slice, y - x)
  if name then
    self:count_thread(kid, tid, name, x, y)
  elseif slice.owner then
    count_name(kid, thread_name(self.store, slice.owner, slice.owner_comm) .. " ?", y - x)
  end
  if slice.waker == 0 and kid.kind == "lock" and not slice.is_gil or slice.timed_out and (slice.connecting or not is_watch(slice)) then
    kid.timeout_ns = (kid.timeout_ns or 0) + y - x
  elseif tid and tid ~= 0 and slice[3] ~= "file" and (slice[3] ~= "sleep" or slice.polls_child or is_watch(slice))
         and (slice[3] ~= "page_fault" or is_same_process(self.store, tid, self.tid)) then
    self:descend(kid, tid, x, y)
  end
end

-- ---- requests to others ----

-- Returns the record of the other end of the call, if that is on this machine, and known yet.
local function find_served(store, call)
  local best
  for _, r in ipairs(call.key and overlapping(store.served:of(call.key), call.b, call.e, SAME_CONN_MAX) or {}) do
    local shared = math.min(r.e, call.e) - math.max(r.b, call.b)
    if not best or shared > best.shared then best = {shared = shared, r = r} end
  end
  return best and best.r
end

local function served_end(store, call)
  if call.served == nil then call.served = find_served(store, call) or false end
  return call.served
end

local ERROR_MAX = 50

local function add_call(part, call, ns)
  local why = call.error_text and report.cut(call.error_text, ERROR_MAX)
  local name = call.error and ("%s: %s%s"):format(call.name, call.error, why and " " .. why or "") or call.name
  local kid = add(part, "call " .. name, name, ns)
  kid.group, kid.error = call.group, call.error
  kid.calls = kid.calls or {n = 0}
  if not kid.calls[call] then kid.calls[call], kid.calls.n = true, kid.calls.n + 1 end
  return kid
end

-- Returns ":80" of an address; "": it has no port.
local function port_of(peer) return peer and peer:match("^[%d.]+(:%d+)$") or peer and peer:match("%](:%d+)$") or "" end

function Span:call(part, call, x, y)
  local kid = add_call(part, call, y - x)
  local r = served_end(self.store, call)
  if not r then kid.server = call.peer_proc and call.peer_proc .. port_of(call.peer) end
  if not r or self.depth >= DEPTH_MAX then return end
  local server = self.store:thread(r.last_tid)
  kid.server = server and server.process and server.process .. port_of(call.peer)
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
function Span:is_idle(slice, x) return is_watch(slice) and self.request and x >= self.start end

-- ---- what another request brought ----

-- Returns when the turn of the loop began in which it answered the request, and the wait that ended then; nil: it had not
-- waited before.
function Span:turn_of_answer()
  local r, list = self.request, self.store.slices:of(self.tid)
  if not list or not r.answered then return nil end
  for i = search(list, r.answered, slice_end) - 1, list.first, -1 do
    local s = list[i]
    if s[2] <= r.sent then return nil end
    if is_watch(s) then return s[2], s end
  end
end

-- Finds what a loop read before it answered the request: the response to a call of another request, or another request.
-- The request waited for that: a guess.
function Span:find_cause()
  local r = self.request
  if not r or self.tid ~= r.last_tid then return end
  local turn, wait = self:turn_of_answer()
  if not turn then return end
  self.answered_by = wait.waker and wait.waker ~= 0 and not is_of_kernel(self.store, wait.waker, wait.waker_comm) and wait.waker or nil
  local function is_in_turn(ns) return ns and ns >= turn - TURN_SLACK_NS and ns <= r.answered end
  for _, call in ipairs(self.calls) do
    if is_in_turn(call.answered) or is_in_turn(call.e) then return end
  end
  local at = 0
  for _, call in ipairs(self.foreign) do
    if is_in_turn(call.answered) and call.answered > at then at, self.cause = call.answered, {call = call, b = call.b} end
  end
  for _, o in ipairs(self.others) do
    if is_in_turn(o.b) and o.b > at then at, self.cause = o.b, {served = o, b = r.sent} end
  end
  if self.cause then self.cause.e = turn end
end

-- Adds [x, y), in which the thread waited for what another request brought. Returns whether it did.
function Span:for_another(part, x, y)
  local cause = self.cause
  if not cause or x < cause.b or y > cause.e then return false end
  if cause.call then
    local owner = self.of_call[cause.call]
    local of = owner and owner ~= self.request and owner.name or "another request"
    self:call(add(part, "call of " .. of, ("wait for a call of %s ?"):format(of), y - x), cause.call, x, y)
    return true
  end
  local o, call = cause.served, asked_end(self.store, cause.served)
  local who = call and thread_name(self.store, call.last_tid) or o.peer_proc or o.peer or "?"
  local kid = add(part, "until " .. o.name, ("until %s from %s ?"):format(o.name, who), y - x)
  if call then self:descend(kid, call.last_tid, x, y) end
  return true
end

-- Adds what the thread did for the other request in [x, y).
function Span:busy(part, owner, slice, x, y)
  self.of_owner = self.of_owner or {}
  local span = self.of_owner[owner]
  if not span then
    if self.depth >= DEPTH_MAX then return end
    -- Only while it is open: what overlaps that is little, of the many requests of a loop.
    local a, b = math.max(self.a, owner.b), math.min(self.b, owner.e)
    span = span_of(self.store, self.tid, a, b, owner, self.begin, self.depth + 1, self.above)
    span:find_requests()
    span.owned = nil -- [x, y) is its time
    span:find_cuts()
    self.of_owner[owner] = span
  end
  span:add_pieces(part, slice, x, y)
end

-- Whether the process began after the request was sent, and has not read it: it starts, for others, too.
function Span:is_starting(x)
  local t = self.store:thread(self.tid)
  return t and t.pid == self.tid and t.born and t.born >= self.a and x >= t.born
end

-- Adds [x, y), before the thread began that read the request: the main thread of its process had not accepted it. What
-- that did tells why, unless it waited for connections.
function Span:not_accepted(part, x, y)
  local main = (self.store:thread(self.tid) or {}).pid
  local list = main and main ~= self.tid and not self.above[main] and self.store.slices:of(main)
  local rest = y - x
  for i = list and search(list, x, slice_end) or 1, list and list.last or 0 do
    local s = list[i]
    local a, b = math.max(s[1], x), math.min(s[2], y)
    if a >= y then break end
    if b > a and s[3] ~= "network" and s[3] ~= "unknown" and not is_watch(s) then
      local label = "not yet accepted by " .. thread_name(self.store, main)
      self:descend(add(part, "accept " .. main, label, b - a), main, a, b)
      rest = rest - (b - a)
    end
  end
  if rest > 0 then add(part, "request", "request under way", rest) end
end

-- Adds [x, y), in which the slice does not change what it is counted as.
function Span:add(part, slice, x, y)
  local owner, r, kind = self:owner(x), self.request, slice[3]
  if r and y <= r.b and self:is_starting(x) then
    part = add(part, "start", "start of " .. place_name(self.store, self.tid), y - x)
  end
  local waits_for = self:call_at(x)
  if self:is_idle(slice, x) or waits_for and waits_for.answered and waits_for.answered >= y then owner = r end
  if owner and owner ~= r and kind ~= "unknown" then
    local kid = add(add(part, "busy", "busy with other requests", y - x), owner.name, owner.name, y - x)
    return self:busy(kid, owner, slice, x, y)
  end
  local is_down = DOWN[kind] or is_watch(slice)
  local call = is_down and owner == r and waits_for
  if call and kind ~= "unknown" and x < call.sent then
    local kid = add_call(part, call, y - x)
    return self:client(kid, slice, x, y) or self:wait(kid, slice, x, y)
  end
  if call and (kind ~= "unknown" or not self.store.slices:has_waits()) then return self:call(part, call, x, y) end
  if is_watch(slice) and owner == r and self:for_another(part, x, y) then return end
  local before = is_watch(slice) and owner == r and self:queued_at(x)
  if before then return self:call(add(part, "connection", "wait for a connection ?", y - x), before, x, y) end
  if kind == "unknown" then
    if r and y <= r.b and self.born and self.born >= y then return self:not_accepted(part, x, y) end
    add(part, "unknown", "unknown", y - x)
  elseif kind == "running" then
    if owner == r then return self:running(part, x, y) end
    add(part, "cpu?", "on CPU for one of several requests ?", y - x)
  elseif kind == "runnable" then
    self:runnable(part, slice, x, y)
  elseif r and y <= r.b and is_down then
    local before = self:kept_by(slice)
    if before then return self:wait_for_client(part, before, x, y) end
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
  self:find_cause()
  self:find_cuts()
  local list, at, thread = self.store.slices:of(self.tid), self.a, self.store:thread(self.tid)
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

-- Explains a whole request; with `begin`, from then on: it may have waited for its server to read it.
function parts.explain(store, r, begin)
  local root = new(r.name)
  begin = begin or r.b
  root.ns = r.e - begin
  store.scans = {}
  store.slices:forget()
  local threads = parts.explain_request(store, r, root, begin, r.e, 1)
  merge_calls(root)
  name_polls(root)
  return root, threads
end

parts.thread_name, parts.place_name, parts.find_served, parts.find_asked = thread_name, place_name, find_served, find_asked
parts.SAME_CONN_MAX = SAME_CONN_MAX
return parts
