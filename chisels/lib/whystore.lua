-- SPDX-License-Identifier: Apache-2.0
-- The last slices, requests and samples of all threads, in bounded memory, for the chisel why: require
-- "whystore". store:init() requests the fields, and begins to keep slices, requests and the names of threads;
-- store:note() keeps the current event if it is a sample.
local report = require "report"
local bounded = require "bounded"
local threadlog = require "threadlog"
local slicelog = require "slicelog"
local requestlog = require "requestlog"

local SAMPLES_MAX, THREADS_MAX, STACKS_MAX = 50000, 20000, 10000
local GC = "(garbage collection)" -- the function that runtimes seem to have called
local SCHEDULE = "__schedule" -- in which each thread waits: no place
local FILTER = "evt.type in (request, sample)"

local Store = {}
Store.__index = Store

local field = evt.field
local line = slicelog.line
local of_event, of_sample

function Store:init()
  of_event = report.fields {tid = "thread.tid", time = "evt.rawtime", conn = "request.conn"}
  of_sample = report.fields {
    reason = "sample.reason", weight = "sample.weight", own = "stack.lang.own",
    script = "stack.lang.top", func = "stack.function", folded = "stack.folded",
  }
  self.slices = slicelog.new(self)
  self.served, self.calls = requestlog.new("request.side=server"), requestlog.new("request.side!=server")
  self.names = chisel.log {
    filter = "evt.type in (slice, request) and thread.name exists", max = THREADS_MAX, only = "last", keys = {"thread.tid"},
    fields = {"thread.name", "proc.pid", "proc.name", "proc.exepath", "proc.args"},
  }
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

local function new_thread(born, name, pid, process, exe, args)
  local t = {of_name = name, of_process = process, exe = exe, args = args, born = born, pid = pid}
  t.process = process and process_name(process, args)
  t.name = name == process and t.process or line(name)
  t.has_exe, t.is_python = (exe or "") ~= "", (exe or ""):find("python", 1, true) ~= nil
  return t
end

local function is_same(t, name, pid, process, exe, args)
  return t.of_name == name and t.pid == pid and t.of_process == process and t.exe == exe and t.args == args
end

-- Returns what is known of the thread: name, pid, process (its name), is_python, has_exe, and born: when it began, if that
-- was during the capture. nil: nothing.
function Store:thread(tid)
  local _, last = self.names:span(tid)
  if not last then return self.threads:get(tid) end
  local number, t = self.names:number(tid, last), self.threads:get(tid)
  if t and is_same(t, self.names:values(number)) then return t end
  t = new_thread(self.slices:born(tid), self.names:values(number))
  self.threads:put(tid, t)
  return t
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
  local reason, ns, weight = field(of_sample.reason), self.now, field(of_sample.weight) or 1
  if reason == "cpu" then
    self.samples:add(tid, {ns = ns, weight = weight, func = function_of(), frames = self:frames_of(field(of_sample.folded))})
  elseif reason == "off_cpu" then
    local func = function_of()
    if func ~= SCHEDULE then self.places:add(tid, {ns = ns - weight, func = func}) end
  end
end

-- Whether the slice of the thread is a wait of a process of Go on a futex.
function Store:is_of_go(tid, slice)
  local thread = slice.lock and self:thread(tid)
  return thread and thread.pid and self.slices:is_of_go(thread.pid) or false
end

-- Keeps the current event if it is a sample. Returns what is known of a request that a log has just kept: {is_server, b, e,
-- seen, conn}, the same table each time.
local seen_request = {}

function Store:note()
  local r, tid = seen_request, field(of_event.tid)
  self.slices:find_first()
  self.now = field(of_event.time)
  r.b, r.e = self.served:take_times()
  r.is_server = r.b ~= nil
  if not r.b then r.b, r.e = self.calls:take_times() end
  if not r.b then return tid and self:note_sample(tid) end
  r.seen, r.conn = self.now, field(of_event.conn)
  return r
end

return {
  filter = FILTER,
  new = function()
    return setmetatable({
      samples = threadlog.new(SAMPLES_MAX), places = threadlog.new(SAMPLES_MAX), threads = bounded(THREADS_MAX),
      stacks = bounded(STACKS_MAX), now = 0,
    }, Store)
  end,
}
