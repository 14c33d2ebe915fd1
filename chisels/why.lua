-- SPDX-License-Identifier: Apache-2.0
description = "Shows why requests were slow: for the slowest ones of servers, where the time went, from the first byte of the request to the last of the response. The first line has the largest parts: on the CPU, in the run queue and behind whom, a lock and who held it, sleep, a file, a child process, a request to another server. Below it is all of the time, as a tree: a line that waited for another thread, or for a server on this machine, has below it what that one did meanwhile. The parts of each level sum to the line above. ? marks a guess: the other thread may have worked for someone else. With samples of the CPU (--sample 99) the functions that ran are shown, too. A capture file needs switches and wake-ups (record with --slices --requests). A filter such as request.latency>500ms selects the requests."
short_description = "Why requests were slow: where their time went"
category = "Performance"

local report = require "report"
local parts = require "timeparts"
local whystore = require "whystore"

local arg = report.args {
  {name = "top", argtype = "int", default = 5, check = report.whole(1, 1000),
   description = "the slowest so many requests (5)"},
  {name = "interval", argtype = "int", default = 0, check = report.whole(0),
   description = "live: seconds after which the slowest requests are shown, again and again; 0: once, at the end (0)"},
}

-- Their time is divided when the slices that it needs have arrived: a thread that works on has none of its last work yet.
local SETTLE_NS, SETTLE_MAX_NS = 500000000, 10000000000
local FUNCTION_LEAST = 0.15 -- of a part, to be in the sentence
local SHOWN_LEAST, REST_LEAST, PARTS_MAX, NOTES_MAX, FUNCTIONS_MAX, SAMPLES_LEAST = 0.01, 0.005, 4, 3, 3, 2

local store = whystore.new()
local slowest = require "slowest".new(store) -- items have threads, too

-- ---- the slowest requests ----

local function is_due(s)
  local passed = store.now - s.request.e
  return passed >= SETTLE_NS and (store.slices:reaches(s.request.last_tid, s.request.e) or passed >= SETTLE_MAX_NS)
end

local function explain(s)
  s.root, s.threads = parts.explain(store, s.request, s.begin)
  slowest.n_pending = slowest.n_pending - 1
end

local function explain_due()
  for _, s in ipairs(slowest) do
    if not s.root and is_due(s) then explain(s) end
  end
end

-- ---- the sentence ----

local function by_ns(kids)
  local sorted = table.move(kids, 1, #kids, 1, {})
  table.sort(sorted, function(x, y)
    if x.ns ~= y.ns then return x.ns > y.ns end
    return x.label < y.label
  end)
  return sorted
end

-- What a part waited for, and whose work ended it.
local links = {lock = "%s held by %s", pipe = "%s from %s", ["full pipe"] = "%s until %s reads", poll = "%s until %s",
               file = "%s until %s", network = "%s from %s", child = "%s %s", other = "%s until %s",
               stopped = "%s until %s", frozen = "%s until %s", work = "%s of %s ?", go = "%s until %s"}

local NEARLY_ALL = 0.9

local function label_of(part)
  local name, ns, sum = parts.main_name(part)
  if part.label == "run queue" and name and ns >= part.ns * NEARLY_ALL then return "run queue behind " .. name end
  local link = name and sum >= part.ns / 2 and links[part.kind]
  local label = link and link:format(part.label, name) or part.label
  if link and ns < part.ns / 2 then label = label .. " and others" end
  return (part.timeout_ns or 0) >= part.ns / 2 and label .. " until a timeout" or label
end

-- Returns the innermost function that most samples have in their stack; nil: there is none.
local MOST, BELOW_LEAST = 0.5, 0.7

local function function_below(part)
  local all, n, best, best_name = 0, 0, nil, nil
  for _, f in pairs(part.funcs or {}) do all, n = all + f.weight, n + f.n end
  for name, f in pairs(n >= SAMPLES_LEAST and part.below or {}) do
    local is_deeper = f.weight >= all * BELOW_LEAST and (not best or f.depth > best.depth or f.depth == best.depth and name < best_name)
    if is_deeper then best, best_name = f, name end
  end
  return best and {label = best_name, ns = math.floor(part.ns * math.min(best.weight / all, 1)), is_below = true}
end

-- Returns the functions of the samples of the part, as {label, ns}: their shares of its time. A single
-- sample does not show where time goes.
local function functions_of(part)
  local list, all = {}, 0
  for _, f in pairs(part.funcs or {}) do all = all + f.weight end
  for name, f in pairs(part.funcs or {}) do
    if f.n >= SAMPLES_LEAST then
      list[#list + 1] = {label = name, ns = math.floor(part.ns * (f.weight / all))}
    end
  end
  list = by_ns(list)
  local below = function_below(part)
  if below and below.label ~= (list[1] or {}).label and (not list[1] or list[1].ns < part.ns * MOST) then
    table.insert(list, 1, below)
  end
  return list
end

local function with_time(part) return report.time(part.ns) .. " " .. label_of(part) end

local COUNTED = {sleep = true, timed = true, network = true} -- kinds whose waits are counted

local function place_of(func) return (func.is_below and "in and below " or "in ") .. func.label end

local function between(name) return (name:find("^connect to ") and " between attempts to " or " between calls of ") .. name end

-- Returns what the part consists of, for behind its label: " (3 calls to app)", " (17 waits in main (a.py:3))".
local function remarks(part)
  local words, func = {}, functions_of(part)[1]
  if part.calls then
    words[1] = part.calls.n == 1 and "1 call" or ("%d calls"):format(part.calls.n)
    words[2] = part.server and "to " .. part.server
  elseif part.between or COUNTED[part.kind] and (part.times or 1) > 1 then
    local n = part.times == 1 and "1 wait" or ("%d waits"):format(part.times)
    words[1] = n .. (part.between and between(part.between) or "")
  end
  if func and func.ns >= part.ns * FUNCTION_LEAST then
    words[#words + 1] = (func.ns < part.ns and report.time(func.ns) .. " " or "") .. place_of(func)
  end
  return #words > 0 and " (" .. table.concat(words, " ") .. ")" or ""
end

-- Returns the largest part below, but for places; nil: none has much of the time. A wait for the CPU behind many
-- threads says little: half as much work is preferred.
local function main_kid(part)
  local kid, second = table.unpack(by_ns(part.kids))
  if second and label_of(kid) == "run queue" and second.ns >= kid.ns / 2 then kid = second end
  if label_of(part):find("^run queue behind ") or not kid or kid.ns < part.ns / 3 then return nil end
  return kid.is_place and main_kid(kid) or not kid.is_place and kid or nil
end

-- Each part of a clause is inside the one before it: "5s GET /a (1 call to app), of which 4s sleep".
local function clause(part)
  local words = {}
  while part and #words <= NOTES_MAX do
    words[#words + 1] = with_time(part) .. remarks(part)
    part = main_kid(part)
  end
  return table.concat(words, ", of which ")
end

local function sentence(s)
  local root, least = s.root, s.request.error == "unfinished" and "at least " or ""
  local clauses, kids, rest = {}, by_ns(root.kids), 0
  for i, kid in ipairs(kids) do
    if i <= PARTS_MAX and (i == 1 or kid.ns >= root.ns * SHOWN_LEAST) then
      clauses[#clauses + 1] = clause(kid)
    else
      rest = rest + kid.ns
    end
  end
  if rest >= root.ns * SHOWN_LEAST or #clauses == 0 then clauses[#clauses + 1] = report.time(rest) .. " other" end
  return ("%s %s%s: %s"):format(root.label, least, report.time(root.ns), table.concat(clauses, "; "))
end

-- ---- the tree ----

local function put_line(root, ns, depth, text)
  print(("  %9s %5.1f%%  %s%s"):format(report.time(ns), root.ns > 0 and 100 * ns / root.ns or 0, ("  "):rep(depth), text))
end

-- Returns the parts below, largest first, with `unknown` as the time that they lack. If nothing else is
-- known, there are none.
local function whole_kids(part)
  local kids, sum, rest = {}, 0, nil
  for _, kid in ipairs(part.kids) do
    sum = sum + kid.ns
    if kid.label == "unknown" then rest = kid.ns else kids[#kids + 1] = kid end
  end
  if #kids == 0 then return {} end
  rest = (rest or 0) + part.ns - sum
  if rest > 0 then kids[#kids + 1] = {label = "unknown", ns = rest, kids = {}} end
  return by_ns(kids)
end

-- Returns the parts to show of a level, the sum of those that are too small, and their number.
local function shown_kids(root, part)
  local shown, small, n = {}, 0, 0
  for _, kid in ipairs(part == root and by_ns(part.kids) or whole_kids(part)) do
    if kid.ns >= root.ns * (kid.label == "unknown" and REST_LEAST or SHOWN_LEAST) then
      shown[#shown + 1] = kid
    elseif kid.ns > 0 then
      small, n = small + kid.ns, n + 1
    end
  end
  return shown, small, n
end

local function put_tree(root, part, depth)
  local shown, small, n = shown_kids(root, part)
  if part.label == "run queue" and #part.kids == 1 then return end -- its label has the name
  if depth > 0 and #shown == 0 then return end -- "9 smaller parts" alone says nothing
  for _, kid in ipairs(shown) do
    local calls = kid.calls and (kid.calls.n == 1 and " (1 call)" or (" (%d calls)"):format(kid.calls.n)) or ""
    local label = kid.label == "run queue" and #kid.kids > 1 and kid.label or label_of(kid)
    put_line(root, kid.ns, depth, label .. calls)
    for i, f in ipairs(functions_of(kid)) do
      if i <= FUNCTIONS_MAX then put_line(root, f.ns, depth + 1, place_of(f)) end
    end
    put_tree(root, kid, depth + 1)
  end
  if small >= root.ns * REST_LEAST then
    put_line(root, small, depth, n == 1 and "1 smaller part" or n .. " smaller parts")
  end
end

-- Returns the line below the sentence: when, and which threads worked on the request.
local function details(s)
  local r, words, names = s.request, {}, {}
  words[1] = report.clock(s.begin) .. "  " .. parts.place_name(store, r.tid or r.last_tid)
  for i, of in ipairs(s.threads) do
    names[i] = ("%s%s %s"):format(of.guess and "? " or "", parts.thread_name(store, of.tid), report.time(of.ns))
  end
  if #names > 1 then words[2] = table.concat(names, " -> ") end
  if r.peer_proc or r.peer then words[#words + 1] = "from " .. (r.peer_proc or r.peer) end
  if r.container then words[#words + 1] = "container " .. r.container end
  words[#words + 1] = r.status and ("status %d"):format(r.status)
  words[#words + 1] = r.error and "error " .. r.error
  return table.concat(words, ", ")
end

-- ---- output ----

local function object_of(part, is_root)
  local kids, functions, all = {}, {}, functions_of(part)
  for i, kid in ipairs(is_root and by_ns(part.kids) or whole_kids(part)) do kids[i] = object_of(kid) end
  for i = 1, math.min(#all, FUNCTIONS_MAX) do functions[i] = {name = all[i].label, ns = all[i].ns} end
  return {part = label_of(part), ns = part.ns, calls = part.calls and part.calls.n, parts = #kids > 0 and kids or nil,
          functions = #functions > 0 and functions or nil}
end

local function put_object(s)
  local object, r = object_of(s.root, true), s.request
  object.why, object.request, object.part = sentence(s), r.name, nil
  object.begin, object.status, object.error, object.conn = s.begin, r.status, r.error, r.conn
  object.tid, object.container = r.last_tid, r.container
  print(chisel.json(object))
end

local function put_request(s)
  if report.is_json() then return put_object(s) end
  print(report.paint("bold", sentence(s)))
  print(report.paint("dim", details(s)))
  put_tree(s.root, s.root, 0)
end

local function put_all(list)
  if not report.is_json() then sysdig.put_title() end
  for i, s in ipairs(list) do
    if i > 1 and not report.is_json() then print() end
    put_request(s)
  end
  io.flush()
end

-- ---- callbacks ----

local function note(is_selected)
  local seen = store:note()
  if seen then slowest:note(seen, is_selected) end
end

local function on_unmatched() note(false) end

function on_init()
  store:init()
  slowest.top = arg.top
  chisel.set_filter(whystore.filter)
  chisel.follow(whystore.filter, on_unmatched)
  return true
end

-- Of many slices, the log has those of a request for a short time only.
local DUE_NS = 100000000

function on_capture_start()
  chisel.set_interval_ns(DUE_NS)
  return true
end

function on_event() note(true) end

-- Shows the requests whose slices have arrived; the others are left for the next time.
local function put_done()
  local done = slowest:take_done()
  if #done == 0 then return end
  if not report.is_json() then print(report.clock(store.now)) end
  put_all(done)
  if not report.is_json() then print() end
end

local turn -- of arg.interval seconds

function on_interval(seconds, ns)
  local is_shown = arg.interval > 0 and sysdig.is_live() and turn and turn ~= seconds // arg.interval
  store.now = seconds * 1000000000 + ns
  if slowest.n_pending > 0 then explain_due() end
  if is_shown then put_done() end
  turn = arg.interval > 0 and seconds // arg.interval
  return true
end

local function put_notes()
  if slowest.n_seen > 0 and not store.slices:has_waits() then
    sysdig.log("no slices of waiting threads: only requests to other servers are known; a capture file needs switches and wake-ups "
               .. "(record with --slices --requests)", "warning")
  elseif store.slices:n_evicted() > 0 then
    sysdig.log(("%d older slices were dropped: the time of requests that were longer than what is kept is unknown")
               :format(store.slices:n_evicted()))
  end
end

function on_capture_end()
  for _, s in ipairs(slowest) do
    if not s.root then explain(s) end
  end
  put_all(slowest)
  if slowest.n_seen == 0 then
    report.put_nothing(slowest.n_unmatched > 0 and ("none of %d requests at servers matches the filter"):format(slowest.n_unmatched)
                       or "no requests at servers")
  end
  put_notes()
end
