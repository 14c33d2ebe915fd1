-- SPDX-License-Identifier: Apache-2.0
-- Prepares the Lua state of a chisel: functions of Lua 5.1 that 5.4 lacks, and none that reach
-- outside of the state. Runs before the chisel, which cannot reach its locals.
local native, unsafe, sorted = ...

local debug_lib, raw_load, type, error = debug, load, type, error
local next, sort, unpack_all = next, table.sort, table.unpack

-- Numbers as text.
tostring = native.tostring
print = native.print
io.write = native.write

-- io.stdout: all output goes through the host.
local out = {}
function out.write(self, ...)
  native.write(...)
  return self
end
function out.flush() native.flush() end
function out.close() end
function out.setvbuf() return true end
out.__index, out.__name = out, "FILE*"
io.stdout = setmetatable({}, out)
io.flush = native.flush

-- Functions of Lua 5.1.
unpack = unpack_all
table.insert, table.remove = native.insert, native.remove
table.getn = function(t) return #t end
table.maxn = function(t)
  local max = 0
  for k in next, t do
    if type(k) == "number" and k > max then max = k end
  end
  return max
end
table.foreach = function(t, f)
  for k, v in next, t do
    local r = f(k, v)
    if r ~= nil then return r end
  end
end
table.foreachi = function(t, f)
  for i = 1, #t do
    local r = f(i, t[i])
    if r ~= nil then return r end
  end
end
string.gfind = string.gmatch
local floor, ln, exp = math.floor, math.log, math.exp
math.pow = function(x, y) return x ^ y end
math.log10 = function(x) return ln(x, 10) end
math.mod = math.fmod
math.cosh = function(x) return (exp(x) + exp(-x)) / 2 end
math.sinh = function(x) return (exp(x) - exp(-x)) / 2 end
math.tanh = function(x) return (exp(x) - exp(-x)) / (exp(x) + exp(-x)) end
math.ldexp = function(x, e) return x * 2.0 ^ e end
math.frexp = function(x)
  if x == 0 then return 0, 0 end
  local e = floor(ln(x < 0 and -x or x, 2)) + 1
  local m = x / 2.0 ^ e
  if m >= 1 or m <= -1 then m, e = m / 2, e + 1 end
  return m, e
end

-- Rounds fractional bounds down.
local function whole(f, n)
  return function(s, i, j)
    if type(i) == "number" then i = floor(i) end
    if type(j) == "number" then j = floor(j) end
    return f(s, i, j)
  end
end
string.sub = whole(string.sub)
string.rep = (function(rep)
  return function(s, n, sep) return rep(s, type(n) == "number" and floor(n) or n, sep) end
end)(string.rep)
math.random = (function(random)
  return function(a, b)
    if a == nil then return random() end
    if b == nil then return random(floor(a)) end
    return random(floor(a), floor(b))
  end
end)(math.random)
math.randomseed = (function(seed)
  return function(n) seed(floor(n or 0)) end
end)(math.randomseed)

-- The environment of a function is its upvalue _ENV.
local getupvalue, setupvalue, getinfo = debug_lib.getupvalue, debug_lib.setupvalue, debug_lib.getinfo
local upvaluejoin = debug_lib.upvaluejoin
local function env_of(f)
  if type(f) == "number" then
    local level = getinfo(f + 2, "f")
    if f == 0 or not level then return nil, nil, f ~= 0 end
    f = level.func
  end
  if type(f) ~= "function" then error("a function or a level was expected, not a " .. type(f), 3) end
  local i = 1
  while true do
    local name = getupvalue(f, i)
    if name == "_ENV" then return f, i end
    if not name then return f, nil end
    i = i + 1
  end
end
function getfenv(f)
  local fn, i = env_of(f == nil and 1 or f)
  if not i then return _G end
  local _, env = getupvalue(fn, i)
  return env
end
function setfenv(f, env)
  local fn, i = env_of(f)
  if i then
    -- A new upvalue: other functions keep theirs.
    upvaluejoin(fn, i, function() return env end, 1)
  end
  return fn
end

-- Bytecode is refused: it can read any memory.
function load(chunk, name, mode, ...)
  if select("#", ...) > 0 then return raw_load(chunk, name, "t", (...)) end
  return raw_load(chunk, name, "t")
end
loadstring = load
function loadfile(path, mode, ...)
  local f, err = native.load_file(path)
  if f and select("#", ...) > 0 then setfenv(f, (...)) end
  return f, err
end
function dofile(path)
  local f, err = native.load_file(path)
  if not f then error(err, 2) end
  return f()
end
string.dump = nil

-- Modules are searched in the folders of chisels.
package.searchers = {
  function(name) return package.preload[name] or "" end,
  function(name)
    local found = native.find_module(name)
    return found
  end,
}
package.loaders = package.searchers
package.path, package.cpath = "", ""

-- pairs() of the tables of threads and descriptors visits keys in ascending order.
sorted.__pairs = function(t)
  local keys, i = {}, 0
  for k in next, t do keys[#keys + 1] = k end
  sort(keys)
  return function()
    i = i + 1
    if keys[i] ~= nil then return keys[i], t[keys[i]] end
  end, t, nil
end
sorted.__metatable = false

os.exit = native.exit

local raw_xpcall, guard_handler = xpcall, native.guard_handler
function xpcall(f, handler, ...)
  return raw_xpcall(f, guard_handler(handler), ...)
end

-- Lua counts no instructions in finalizers.
local raw_setmetatable, rawget = setmetatable, rawget
function setmetatable(t, mt)
  if type(mt) == "table" and rawget(mt, "__gc") ~= nil then
    error("__gc is not allowed in a metatable: chisels have no finalizers", 2)
  end
  return raw_setmetatable(t, mt)
end
collectgarbage = (function(collect)
  return function(what)
    if what == nil or what == "collect" or what == "count" or what == "step" then
      return collect(what)
    end
    return 0
  end
end)(collectgarbage)

if not unsafe then
  local function refuse(name)
    return function()
      error(name .. " is not allowed: running programs, writing files and reading other than regular files need --chisel-unsafe", 2)
    end
  end
  -- Reading a pipe or device may block forever: only regular files can be opened.
  local open_plain = native.open_plain
  io.open = function(path, mode)
    if mode ~= nil and mode ~= "r" and mode ~= "rb" then refuse("io.open for writing")() end
    return open_plain(path)
  end
  io.lines = function(path, ...)
    if path == nil then refuse("io.lines of standard input")() end
    local file, why = open_plain(path)
    if not file then error(why, 2) end
    return file:lines(...)
  end
  io.stdin = nil
  io.read, io.input = refuse("io.read of standard input"), refuse("io.input")
  io.popen, io.output, io.tmpfile = refuse("io.popen"), refuse("io.output"), refuse("io.tmpfile")
  for _, name in ipairs({"execute", "remove", "rename", "tmpname", "setlocale"}) do
    os[name] = refuse("os." .. name)
  end
  package.loadlib = refuse("package.loadlib")
  package.searchpath = nil
  debug = {traceback = debug_lib.traceback}
  package.loaded.debug = debug
end
