-- SPDX-License-Identifier: Apache-2.0
-- Calls Lua functions in random order and depth, also through C functions, coroutines and tail
-- calls. At each end it writes the stack that Lua itself has to a file, as JSON, and waits for a
-- command. Arguments: the file, the number of stacks, the seed, and a file: it begins when that is
-- there.
local out = assert(io.open(arg[1], "w"))
local left, depth_max = tonumber(arg[2]), 30
math.randomseed(tonumber(arg[3]))

local resumed_by = {} -- by coroutine

local function name_of(info)
  if info.what == "main" then return "main chunk" end
  if info.name and info.namewhat ~= "metamethod" and info.namewhat ~= "for iterator" then
    return info.name
  end
  return ("function <%s:%d>"):format(info.short_src, info.linedefined)
end

local function put_frames(frames, thread, level)
  for i = level, 1000 do
    local info = debug.getinfo(thread, i, "nSl")
    if not info then return end
    if info.what ~= "C" then
      frames[#frames + 1] = ("[%q,%d]"):format(name_of(info), info.currentline)
    end
  end
end

local function record()
  local frames, thread = {}, coroutine.running()
  put_frames(frames, thread, 3)
  thread = resumed_by[thread]
  while thread do
    put_frames(frames, thread, 0)
    thread = resumed_by[thread]
  end
  out:write("[", table.concat(frames, ","), "]\n")
  left = left - 1
end

local function nap()
  record() os.execute("true")
  return left
end

local M, next_call = {}, nil

local function plain(n) local r = next_call(n) return r end

local function tail(n) return next_call(n) end

local function protected(n)
  local ok, r = pcall(next_call, n)
  if not ok then error(r, 0) end
  return r
end

function M.field(n, ...)
  local r = plain(n, ...)
  return r
end

function M:method(n)
  local k = n and n
  local r = next_call(k)
  return r
end

function a_global(n)
  local unused = 1
  local r = M:method(n)
  return r
end

local function sorted(n)
  local called
  table.sort({2, 1}, function(a, b)
    if not called then
      called = true
      next_call(n)
    end
    return a < b
  end)
end

local function replaced(n)
  local r = ("x"):gsub("x", function()
    local r = next_call(n)
    return "y"
  end)
  return r
end

local indexed = setmetatable({}, {__index = function(_, n)
  local r = next_call(n)
  return r
end})

local function index(n) return indexed[n] end

local function in_coroutine(n)
  local me, co = coroutine.running()
  co = coroutine.create(function(k)
    coroutine.yield(k)
    local r = next_call(k)
    return r
  end)
  resumed_by[co] = me
  assert(coroutine.resume(co, n))
  assert(coroutine.resume(co, n))
end

-- Resuming leaves the functions outside of pcall without a native frame.
local function in_protected_coroutine(n)
  local me, co = coroutine.running()
  co = coroutine.create(function(k)
    local ok, r = pcall(function()
      coroutine.yield(k)
      local r = next_call(k)
      return r
    end)
    if not ok then error(r, 0) end
    return r
  end)
  resumed_by[co] = me
  assert(coroutine.resume(co, n))
  assert(coroutine.resume(co, n))
end

local function iterated(n)
  for _ in function(_, last) if not last then next_call(n) return 1 end end do end
end

local loaded = load("local f, n = ...\nlocal r = f(n)\nreturn r", "=loaded")

local function call_loaded(n)
  local r = loaded(next_call, n)
  return r
end

local calls = {plain, tail, protected, M.field, a_global, sorted, replaced, index, in_coroutine,
               in_protected_coroutine, iterated, call_loaded}

function next_call(n)
  if n == 0 then
    local r = nap()
    return r
  end
  local go = calls[math.random(#calls)]
  local r = go(n - 1)
  return r
end

local function is_there(path)
  local f = io.open(path)
  return f and f:close()
end

local function warm_up() local r = os.execute("sleep 0.01") return r end

while not is_there(arg[4]) do warm_up() end
while left > 0 do
  next_call(math.random(0, depth_max))
end
out:close()
