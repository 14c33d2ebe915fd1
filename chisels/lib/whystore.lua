-- SPDX-License-Identifier: Apache-2.0
-- The last slices, requests and samples of all threads, in bounded memory, for the chisel why: require
-- "whystore". store:init() requests the fields; store:note() keeps the current event, and returns it if it
-- is a request.
local report = require "report"
local bounded = require "bounded"
local threadlog = require "threadlog"
local spans = require "spans"

local SLICES_MAX, REQUESTS_MAX, SAMPLES_MAX, THREADS_MAX, STACKS_MAX = 200000, 30000, 50000, 20000, 10000
local NAME_MAX = 60
local OF_PROCESS_MAX = 64
local GC = "(garbage collection)" -- the function that runtimes seem to have called
local SCHEDULE = "__schedule" -- in which each thread waits: no place
local FILTER = "evt.type in (slice, request, sample)"

local Store = {}
Store.__index = Store

local field, is_printable = evt.field, chisel.is_printable
local of_thread, of_slice, of_request, of_sample

function Store:init()
  of_thread = report.fields {tid = "thread.tid", name = "thread.name", pid = "proc.pid", process = "proc.name", exe = "proc.exepath",
                             args = "proc.args"}
  of_slice = report.fields {
    kind = "thread.slice.kind", begin = "thread.slice.start", ns = "thread.slice.ns", call = "thread.slice.call",
    object = "thread.slice.object", lock = "thread.slice.lock", waker = "thread.slice.waker",
    waker_comm = "thread.slice.waker.comm", waker_call = "thread.slice.waker.call", waker_file = "thread.slice.waker.file", owner = "thread.slice.owner", owner_comm = "thread.slice.owner.comm",
    behind = "thread.slice.behind", behind_comm = "thread.slice.behind.comm",
    timed_out = "thread.slice.timed_out", connecting = "thread.slice.connecting", child = "thread.slice.child",
    child_comm = "thread.slice.child.comm", polled = "thread.slice.polled", polled_call = "thread.slice.polled.call",
    polled_error = "thread.slice.polled.error",
  }
  of_request = report.fields {
    begin = "request.begin", latency = "request.latency", send = "request.send", ttfb = "request.ttfb",
    side = "request.side", kind = "request.kind", proto = "request.proto", method = "request.method", resource = "request.resource",
    statement = "request.query", status = "request.status", error = "request.error", error_text = "request.error_text", peer = "request.peer",
    peer_proc = "request.peer_proc", conn = "request.conn", tid = "request.tid", seen = "evt.rawtime",
    parent = "request.parent",
    container = sysdig.is_print_container_data() and "container.name" or nil,
  }
  of_sample = report.fields {
    reason = "sample.reason", weight = "sample.weight", time = "evt.rawtime", own = "stack.lang.own",
    script = "stack.lang.top", func = "stack.function", folded = "stack.folded",
  }
end

-- Returns the text on one line, of a bounded length: any process can make up long names.
local TEXT_MAX = 100
local function line(text)
  if not text or is_printable(text, TEXT_MAX) then return text end
  text = report.line(tostring(text))
  return #text > TEXT_MAX and report.cut_middle(text, TEXT_MAX) or text
end

-- Adds a thread of the process: if it has many, in place of the one that has done nothing for longest.
function Store:note_of_process(pid, tid)
  local threads = self.of_process:get(pid) or {}
  local at, oldest = #threads + 1, math.huge
  for i, other in ipairs(threads) do
    local list = self.slices:of(other)
    local ns = other == tid and -1 or list and list[list.last][2] or 0
    if ns < oldest and (ns < 0 or #threads >= OF_PROCESS_MAX) then at, oldest = i, ns end
  end
  threads[at] = tid
  self.of_process:put(pid, threads)
end

-- Interpreters, of which a program is known by its script: their options that have a value, and those whose value is
-- the program.
local PYTHON, NODE, SHELL = {values = " -X -W ", code = " -c "}, {values = " -r ", code = " -e -p "}, {values = " -o ", code = " -c "}
local INTERPRETERS = {
  python = PYTHON, pypy = PYTHON, node = NODE, nodejs = NODE, bash = SHELL, dash = SHELL, sh = SHELL,
  ruby = {values = " -I -r -C ", code = " -e "}, perl = {values = " -I ", code = " -e -E "}, lua = {values = " -l ", code = " -e "},
  php = {values = " -S -t -d -c ", code = " -r "}, java = {values = " -cp -classpath --class-path -p --module-path ", code = " "},
}
local WORDS_MAX = 50

local function language_of(name) return INTERPRETERS[name and name:match("^(%a+)[%d.]*$")] end

-- Returns the name of a process: that of an interpreter with the script that it runs.
local function process_name(name, args)
  local language, n, skips = language_of(name), 0, false
  for word in (language and args or ""):sub(1, 4096):gmatch("%S+") do
    local option = " " .. word .. " "
    n = n + 1
    if n > WORDS_MAX or language.code:find(option, 1, true) then break end
    if not skips and word:sub(1, 1) ~= "-" then return line(name .. " " .. report.base_name(word)) end
    skips = language.values:find(option, 1, true) ~= nil
  end
  return line(name)
end

function Store:note_thread(tid, begin)
  local t = self.threads:get(tid)
  if not t then
    t = {born = begin and begin > (self.first_ns or begin) and begin or nil}
    self.threads:put(tid, t)
  end
  local name, process = field(of_thread.name), field(of_thread.process)
  -- An interpreter can run another script without another name.
  if process and (process ~= t.comm or t.is_interpreter and field(of_thread.args) ~= t.args) then
    t.comm, t.is_interpreter = process, language_of(process) ~= nil
    t.args = t.is_interpreter and field(of_thread.args) or nil
    t.process = process_name(process, t.args)
  end
  t.name = name and (name == process and t.process or line(name)) or t.name
  local pid = field(of_thread.pid)
  if not pid or t.pid == pid then return end
  local exe = field(of_thread.exe)
  t.pid, t.has_exe, t.is_python = pid, (exe or "") ~= "", (exe or ""):find("python", 1, true) ~= nil
  self:note_of_process(pid, tid)
end

-- Of the waits of a thread, the one before tells what this one was for. A sleep is part of the wait for a
-- child, or for a lock of a file, if the thread looked for that before two sleeps. A wait of CPython is one for its interpreter if it
-- follows one on the same condition variable that ended after 5 ms (sys.getswitchinterval).
local GIL_NS, GIL_SLACK_NS, GIL_NEAR = 5000000, 1000000, 64

local function is_of_gil(before, slice)
  local ns = before[2] - before[1]
  return before.lock and slice.lock and before.waker == 0 and ns >= GIL_NS and ns < GIL_NS + GIL_SLACK_NS
         and math.abs(slice.lock - before.lock) <= GIL_NEAR
end

-- A thread that tries again and again for a lock waits with timeouts in between, as HotSpot does: the thread that ends
-- the last wait held the lock in those before, too. A guess.
local RETRY_MAX_NS, RETRIES_MAX = 1000000, 100

-- The thread keeps the last waits of these, each after the other, for the one that ends them.
local function join_retries(thread, before, slice)
  local list = thread.retries
  local goes_on = list and list[#list] == before and before.lock == slice.lock and slice[1] - before[2] <= RETRY_MAX_NS
  if not goes_on then list = {} end
  if slice.waker == 0 then
    if #list == RETRIES_MAX then table.remove(list, 1) end
    list[#list + 1] = slice
  end
  thread.retries = slice.waker == 0 and list or nil
  for i = slice.waker and slice.waker ~= 0 and #list or 0, 1, -1 do
    if list[i].owner then return end
    list[i].waker, list[i].waker_comm = slice.waker, slice.waker_comm
  end
end

local function join_waits(thread, slice)
  local before, slept = thread.wait, thread.sleep
  thread.wait = slice
  if slice.lock then join_retries(thread, before, slice) else thread.retries = nil end
  if slice[3] ~= "lock" then thread.sleep = slice end
  if slept and slice.child and slept.child == slice.child then slept.polls_child, slice.polls_child = true, true end
  if slept and slice.polled and slept.polled == slice.polled and slept.polled_call == slice.polled_call then
    slept.polls, slice.polls = true, true
  end
  if before and thread.is_python and is_of_gil(before, slice) then before.is_gil, slice.is_gil = true, true end
end

-- A thread of Go that has nothing to do waits on a futex in the first part of Go's heap; the main thread on one outside.
local GO_HEAP, GO_HEAP_END = 0xc000000000, 0xd000000000

function Store:note_lock(thread, slice)
  local is_in_heap = slice.lock and slice.lock >= GO_HEAP and slice.lock < GO_HEAP_END
  if is_in_heap and thread.pid then self.go:put(thread.pid, true) end
end

-- Whether the slice is a wait of a process of Go on a futex.
function Store:is_of_go(tid, slice)
  local thread = slice.lock and self.threads:get(tid)
  return thread and thread.pid and self.go:get(thread.pid) or false
end

-- Kinds of waits that the call of the waker explains: a write to a file of the freezer, a kill.
local SAYS_WAKER_CALL = {file = true, other = true, stopped = true, frozen = true}

-- Returns the slice of a wait. Fields that few waits have are set behind the constructor, which takes memory for nil, too.
local function wait_slice(begin, e, kind)
  local slice = {
    begin, e, kind, call = field(of_slice.call), object = line(field(of_slice.object)), waker = field(of_slice.waker),
    waker_comm = line(field(of_slice.waker_comm)),
  }
  local owner, child, polled = field(of_slice.owner), field(of_slice.child), line(field(of_slice.polled))
  local connecting = field(of_slice.connecting)
  slice.lock = field(of_slice.lock)
  if owner then slice.owner, slice.owner_comm = owner, line(field(of_slice.owner_comm)) end
  if child then slice.child, slice.child_comm = child, line(field(of_slice.child_comm)) end
  if polled then
    slice.polled, slice.polled_call, slice.polled_error = polled, line(field(of_slice.polled_call)), line(field(of_slice.polled_error))
  end
  if field(of_slice.timed_out) then slice.timed_out = true end
  if connecting and connecting ~= 0 then slice.connecting = connecting end
  if SAYS_WAKER_CALL[kind] then slice.waker_call, slice.waker_file = field(of_slice.waker_call), line(field(of_slice.waker_file)) end
  return slice
end

-- Tasks that run are most slices, and have nothing else.
function Store:note_slice(tid, begin)
  local kind, e = field(of_slice.kind), begin + field(of_slice.ns)
  local slice
  if kind == "running" then
    slice = {begin, e, kind}
  elseif kind == "runnable" then
    slice = {begin, e, kind, behind = field(of_slice.behind), behind_comm = line(field(of_slice.behind_comm))}
  else
    slice = wait_slice(begin, e, kind)
  end
  self.first_ns = self.first_ns or begin
  self:note_thread(tid, begin)
  if kind ~= "running" and kind ~= "runnable" then
    local thread = self.threads:get(tid)
    join_waits(thread, slice)
    self:note_lock(thread, slice)
  end
  self.slices:add(tid, slice)
  self.now = math.max(self.now, e)
  if kind ~= "running" and kind ~= "unknown" then self.has_waits = true end
end

-- Returns the name of the request: protocol, method and resource; of HTTP without the protocol. Also
-- returns that without the resource. A statement begins with its method itself.
local function name_of()
  if field(of_request.kind) == "connect" then
    local name = "connect to " .. line(field(of_request.peer) or "?")
    return name, name
  end
  local proto, method = field(of_request.proto) or "request", field(of_request.method)
  local resource, statement = field(of_request.resource), field(of_request.statement)
  local group = line(method and (proto == "http" and method or proto .. " " .. method) or proto)
  if not resource and not statement then return group, group end
  local name = resource and group .. " " .. resource or proto .. " " .. statement
  return report.cut(line(name), NAME_MAX), group
end

local function add_request(log, key, r)
  log:add(key, r)
  spans.added(log:of(key))
end

function Store:note_request(tid, begin)
  local latency, send, ttfb = field(of_request.latency), field(of_request.send), field(of_request.ttfb)
  if not latency then return nil end
  local name, group = name_of()
  local r = {
    name = name, group = group, proto = field(of_request.proto), b = begin, e = begin + latency, sent = begin + (send or 0), answered = send and ttfb and begin + send + ttfb,
    seen = field(of_request.seen), side = field(of_request.side), conn = line(field(of_request.conn)), last_tid = tid,
    tid = field(of_request.tid), status = field(of_request.status),
    parent = field(of_request.parent), error = line(field(of_request.error)), error_text = line(field(of_request.error_text)), peer = line(field(of_request.peer)),
    peer_proc = line(field(of_request.peer_proc)), container = line(field(of_request.container)),
  }
  self:note_thread(tid)
  local log = r.side == "server" and self.served or self.calls
  add_request(log, tid, r)
  if r.tid and r.tid ~= tid then add_request(log, r.tid, r) end
  if r.conn then add_request(r.side == "server" and self.at_conn or self.asked, r.conn, r) end
  return r
end

-- Returns the innermost function: of a script the program's own one if there is one, not the runtime's, with
-- the name of its file, without the folder.
local function function_of()
  local top, own = field(of_sample.script), field(of_sample.own)
  local script = own or top
  local name, place = (script or ""):match("^(.*) (%b())$")
  if not name then return line(script or field(of_sample.func)) end
  local state = own and top == GC and GC .. " in " or ""
  return line(state .. name .. " (" .. report.source_name(place:sub(2)))
end

-- Returns the functions of the stack, outermost first; the same table for the same stack. Those of the kernel are left
-- out: they say little of the program. A stack whose names are long is not kept, only its functions.
local FRAMES_MAX, STACK_MAX = 100, 4096

function Store:frames_of(folded)
  local frames = folded and self.stacks:get(folded)
  if frames or not folded then return frames end
  frames = {}
  for name in folded:gmatch("[^;]+") do
    if #frames == FRAMES_MAX or name:sub(-4) == "_[k]" then break end
    if not name:find("+0x", 1, true) then frames[#frames + 1] = line(name) end
  end
  if #folded <= STACK_MAX then self.stacks:put(folded, frames) end
  return frames
end

function Store:note_sample(tid)
  local reason, ns, weight = field(of_sample.reason), field(of_sample.time), field(of_sample.weight) or 1
  if reason == "cpu" then
    self.samples:add(tid, {ns = ns, weight = weight, func = function_of(), frames = self:frames_of(field(of_sample.folded))})
  elseif reason == "off_cpu" then
    local func = function_of()
    if func ~= SCHEDULE then self.places:add(tid, {ns = ns - weight, func = func}) end
  end
end

-- Keeps the current event. Returns its request, if it is one.
function Store:note()
  local tid, begin = field(of_thread.tid), field(of_slice.begin)
  if not tid then return nil end
  if begin then
    self:note_slice(tid, begin)
    return nil
  end
  begin = field(of_request.begin)
  if begin then return self:note_request(tid, begin) end
  self:note_sample(tid)
end

-- Whether the slices of the thread reach `ns`.
function Store:reaches(tid, ns)
  local list = self.slices:of(tid)
  return list and list[list.last][2] >= ns or false
end

return {
  filter = FILTER,
  new = function()
    return setmetatable({
      slices = threadlog.new(SLICES_MAX), calls = threadlog.new(REQUESTS_MAX, spans.evicted),
      served = threadlog.new(REQUESTS_MAX, spans.evicted), at_conn = threadlog.new(REQUESTS_MAX, spans.evicted),
      asked = threadlog.new(REQUESTS_MAX, spans.evicted),
      samples = threadlog.new(SAMPLES_MAX), places = threadlog.new(SAMPLES_MAX), threads = bounded(THREADS_MAX),
      of_process = bounded(THREADS_MAX), go = bounded(THREADS_MAX), stacks = bounded(STACKS_MAX),
      has_waits = false, now = 0,
    }, Store)
  end,
}
