-- SPDX-License-Identifier: Apache-2.0
-- The last slices of all threads, for the chisel why: require "slicelog". chisel.log keeps them without Lua; of those that
-- a request needs, a table is made: {begin, end, kind}, and by name what the slice has besides. What only the waits before
-- and behind tell of a wait is found then, too: polls, polls_child, is_gil, and the waker of one that was tried again.
local report = require "report"
local log = {}

local SLICES_MAX, THREADS_MAX = 200000, 20000
local FIELDS = {
  "thread.slice.start", "thread.slice.ns", "thread.slice.kind", "thread.slice.call", "thread.slice.object", "thread.slice.lock",
  "thread.slice.waker", "thread.slice.waker.comm", "thread.slice.waker.call", "thread.slice.waker.file", "thread.slice.owner",
  "thread.slice.owner.comm", "thread.slice.behind", "thread.slice.behind.comm", "thread.slice.timed_out",
  "thread.slice.connecting", "thread.slice.child", "thread.slice.child.comm", "thread.slice.polled", "thread.slice.polled.call",
  "thread.slice.polled.error",
}

-- Returns the text on one line, of a bounded length: any process can make up long names.
local TEXT_MAX = 100
function log.line(text)
  if not text or chisel.is_printable(text, TEXT_MAX) then return text end
  text = report.line(tostring(text))
  return #text > TEXT_MAX and report.cut_middle(text, TEXT_MAX) or text
end

local line = log.line

-- Returns a condition for events that have these two times. Those of damaged files may be too large for an integer of Lua.
function log.has_times(begin, length)
  return ("%s<4000000000000000000 and %s<4000000000000000000"):format(begin, length)
end

-- ---- one slice ----

-- Kinds of waits that the call of the waker explains: a write to a file of the freezer, a kill.
local SAYS_WAKER_CALL = {file = true, other = true, stopped = true, frozen = true}

local function is_wait(s) return s[3] ~= "running" and s[3] ~= "runnable" end

-- The arguments are in the order of FIELDS. of_waker is the waker that the slice itself has.
local function new_slice(begin, ns, kind, call, object, lock, waker, waker_comm, waker_call, waker_file, owner, owner_comm, behind,
                         behind_comm, timed_out, connecting, child, child_comm, polled, polled_call, polled_error)
  local s = {begin, begin + ns, kind}
  if kind == "runnable" then s.behind, s.behind_comm = behind, line(behind_comm) end
  if not is_wait(s) then return s end
  s.call, s.object, s.lock, s.waker, s.waker_comm, s.of_waker = call, line(object), lock, waker, line(waker_comm), waker
  if owner then s.owner, s.owner_comm = owner, line(owner_comm) end
  if child then s.child, s.child_comm = child, line(child_comm) end
  if polled then s.polled, s.polled_call, s.polled_error = polled, line(polled_call), line(polled_error) end
  if timed_out then s.timed_out = true end
  if connecting and connecting ~= 0 then s.connecting = connecting end
  if SAYS_WAKER_CALL[kind] then s.waker_call, s.waker_file = waker_call, line(waker_file) end
  return s
end

-- ---- lists ----

-- The slices of a thread, list[list.first] to list[list.last]. By index: plain has those that were made so far, slept and
-- holders what was found for waits.
local List = {}

local function plain(list, i)
  local s = list.plain[i]
  if not s and i >= list.first and i <= list.last then
    s = new_slice(list.log:values(list.log:number(list.tid, i)))
    list.plain[i] = s
  end
  return s
end

-- Returns the next wait of the thread in this direction, 1 or -1, and its index.
local function next_wait(list, i, step)
  for at = i + step, step > 0 and list.last or list.first, step do
    local s = plain(list, at)
    if is_wait(s) then return s, at end
  end
end

-- Of the waits of a thread, those beside one tell what it was for. A sleep is part of the wait for a child, or for a lock of
-- a file, if the thread looked for that before two sleeps: the last wait that was not for a lock, and this one.
local function join_polls(s, other)
  s.polls_child = s.polls_child or s.child and s.child == other.child
  s.polls = s.polls or s.polled and s.polled == other.polled and s.polled_call == other.polled_call
end

-- Returns the last wait before this one that was not for a lock. Each run of waits for locks is gone through once.
local function sleep_before(list, i)
  local seen, found = {}, nil
  local s, at = next_wait(list, i, -1)
  while s and s[3] == "lock" and list.slept[at] == nil do
    seen[#seen + 1] = at
    s, at = next_wait(list, at, -1)
  end
  if s and s[3] == "lock" then found = list.slept[at] else found = s or false end
  for _, passed in ipairs(seen) do list.slept[passed] = found end
  return found
end

local function find_polls(list, i, s)
  if not s.child and not s.polled then return end
  local other, at = sleep_before(list, i), nil
  if other then join_polls(s, other) end
  if s[3] == "lock" then return end
  other, at = next_wait(list, i, 1)
  while other do
    join_polls(s, other)
    if other[3] ~= "lock" then return end
    other, at = next_wait(list, at, 1)
  end
end

-- A thread that tries again and again for a lock waits with timeouts in between, as HotSpot does: the thread that ends
-- the last wait held the lock in those before, too. A guess.
local RETRY_MAX_NS, RETRIES_MAX = 1000000, 100

local function is_retry(before, s)
  return before.lock and before.of_waker == 0 and before.lock == s.lock and s[1] - before[2] <= RETRY_MAX_NS
end

-- Finds who held the lock in each wait of a run of retries, of which `i` is the first that is looked at.
local function find_holder(list, i, s)
  local run, at, last = {}, i, s
  while last and last.of_waker == 0 do
    run[#run + 1] = {at = at, wait = last}
    local other
    other, at = next_wait(list, at, 1)
    last = other and is_retry(last, other) and other
  end
  local holder = last and last.of_waker and last or false
  for k = #run, 1, -1 do
    if run[k].wait.owner or k <= #run - RETRIES_MAX then holder = false end
    list.holders[run[k].at] = holder
  end
end

local function find_waker(list, i, s)
  if s.of_waker ~= 0 then return end
  if list.holders[i] == nil then find_holder(list, i, s) end
  local holder = list.holders[i]
  if holder then s.waker, s.waker_comm = holder.of_waker, holder.waker_comm end
end

-- A wait of CPython is one for its interpreter if it follows one on the same condition variable that ended after 5 ms
-- (sys.getswitchinterval).
local GIL_NS, GIL_SLACK_NS, GIL_NEAR = 5000000, 1000000, 64

local function is_of_gil(before, s)
  if not before or not s or not before.lock or not s.lock or before.of_waker ~= 0 then return false end
  if (s.of_waker or 0) ~= 0 and is_retry(before, s) and not before.owner then return false end
  local ns = before[2] - before[1]
  return ns >= GIL_NS and ns < GIL_NS + GIL_SLACK_NS and math.abs(s.lock - before.lock) <= GIL_NEAR
end

local function join(list, i, s)
  find_polls(list, i, s)
  if not s.lock then return end
  find_waker(list, i, s)
  local thread = list.store:thread(list.tid)
  if thread and thread.is_python then
    s.is_gil = is_of_gil((next_wait(list, i, -1)), s) or is_of_gil(s, (next_wait(list, i, 1)))
  end
end

function List:__index(i)
  local s = math.type(i) == "integer" and plain(self, i)
  if not s then return nil end
  if is_wait(s) then join(self, i, s) end
  rawset(self, i, s)
  return s
end

-- ---- the log ----

local Log = {}
Log.__index = Log

-- Returns the list of the thread, as a threadlog has it. nil: it has none.
function Log:of(tid)
  local first, last = self.all:span(tid)
  local list = self.lists[tid]
  if not first then return nil end
  if not list then
    list = setmetatable({store = self.store, log = self.all, tid = tid, plain = {}, slept = {}, holders = {}}, List)
    self.lists[tid] = list
  end
  list.first, list.last = first, last
  return list
end

-- Forgets the tables that were made.
function Log:forget() self.lists = {} end

-- Returns when the thread began, if slices of others began before. nil: that is not known.
function Log:born(tid)
  local number = self.births:number(tid, 1)
  local begin = number and self.births:times(number)
  return begin and begin > (self.first_ns or begin) and begin or nil
end

-- Looks when the first slice of all began, while the log has it.
function Log:find_first()
  self.first_ns = self.first_ns or (self.all:values((self.all:span())))
end

-- Whether the slices of the thread reach `ns`.
function Log:reaches(tid, ns)
  local _, last = self.all:span(tid)
  if not last then return false end
  local begin, length = self.all:values(self.all:number(tid, last))
  return begin + length >= ns
end

-- Whether any thread waited.
function Log:has_waits()
  local first, last = self.waits:span()
  return last >= first
end

function Log:n_evicted() return (self.all:span()) - 1 end

-- Whether the process is of Go. A thread of Go that has nothing to do waits on a futex in the first part of Go's heap; the
-- main thread on one outside.
function Log:is_of_go(pid) return self.go:span(pid) ~= nil end

-- Returns the thread of a process of Python, but for one, that ran most in [x, y); nil: none did.
function Log:who_ran(pid, but, x, y)
  local sums, best = {}, nil
  local i = self.of_python:overlapping(pid, 1, x, y)
  while i do
    local number = self.of_python:number(pid, i)
    local begin, e = self.of_python:times(number)
    local tid = self.of_python:values(number)
    if tid ~= but then
      sums[tid] = (sums[tid] or 0) + math.min(e, y) - math.max(begin, x)
      if not best or sums[tid] > sums[best] then best = tid end
    end
    i = self.of_python:overlapping(pid, i + 1, x, y)
  end
  return best
end

local BEGIN, LENGTH = "thread.slice.start", "thread.slice.ns"
local SLICE = "evt.type=slice and thread.tid exists and thread.slice.kind exists and " .. log.has_times(BEGIN, LENGTH)

function log.new(store)
  return setmetatable({
    store = store, lists = {},
    all = chisel.log {filter = SLICE, max = SLICES_MAX, keys = {"thread.tid"}, fields = FIELDS},
    births = chisel.log {filter = SLICE, max = THREADS_MAX, only = "first", keys = {"thread.tid"}, fields = {}, begin = BEGIN,
                         length = LENGTH},
    waits = chisel.log {filter = "evt.type=slice and not thread.slice.kind in (running, unknown)", max = 1, only = "first",
                        keys = {"evt.type"}, fields = {}},
    go = chisel.log {filter = "thread.slice.lock>=0xc000000000 and thread.slice.lock<0xd000000000", max = THREADS_MAX,
                     only = "first", keys = {"proc.pid"}, fields = {}},
    of_python = chisel.log {filter = "thread.slice.kind=running and proc.exepath contains python and " .. SLICE,
                            max = SLICES_MAX, keys = {"proc.pid"}, fields = {"thread.tid"}, begin = BEGIN, length = LENGTH},
  }, Log)
end

return log
