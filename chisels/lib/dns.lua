-- SPDX-License-Identifier: Apache-2.0
-- A parser of DNS messages (RFC 1035): require "dns", dns.parse(bytes). Messages are hostile: every length
-- is checked, pointers in names lead only backwards, and the text made of a message is bounded.
local dns = {}

local NAME_MAX, ANSWERS_MAX, TEXT_MAX = 255, 20, 100
local IN_NAMES, IN_TEXTS = ".\\", '"\\'

local types = {
  [1] = "A", [2] = "NS", [5] = "CNAME", [6] = "SOA", [12] = "PTR", [13] = "HINFO", [15] = "MX",
  [16] = "TXT", [28] = "AAAA", [33] = "SRV", [35] = "NAPTR", [39] = "DNAME", [41] = "OPT", [43] = "DS",
  [46] = "RRSIG", [47] = "NSEC", [48] = "DNSKEY", [50] = "NSEC3", [52] = "TLSA", [64] = "SVCB",
  [65] = "HTTPS", [99] = "SPF", [251] = "IXFR", [252] = "AXFR", [255] = "ANY", [257] = "CAA",
}

local rcodes = {
  [0] = "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET",
  "NXRRSET", "NOTAUTH", "NOTZONE",
}

local function type_name(n) return types[n] or "TYPE" .. n end

local function u16(data, at)
  local a, b = data:byte(at, at + 1)
  return b and a << 8 | b or nil
end

-- Escapes bytes as in master files: \DDD for unprintable ones, a backslash before special characters.
local function escape(text, special)
  return (text:gsub("[^%w_-]", function(c)
    if special:find(c, 1, true) then return "\\" .. c end
    if c:find("[^ -~]") or c == " " and special == IN_NAMES then return ("\\%03d"):format(c:byte()) end
  end))
end

-- Returns the text of the name at `at`, and the place after it; or nil and the reason.
local function name_at(data, at)
  local labels, len, ended = {}, 0, nil
  local floor = at -- a pointer has to lead to before this: so there is no loop
  while true do
    local n = data:byte(at)
    if not n then return nil, "a name goes beyond the end" end
    if n == 0 then return #labels > 0 and table.concat(labels, ".") or ".", ended or at + 1 end
    if n >= 0xc0 then
      local to = u16(data, at)
      if not to then return nil, "a name goes beyond the end" end
      to, ended = (to & 0x3fff) + 1, ended or at + 2
      if to >= floor then return nil, "a pointer in a name does not lead backwards" end
      at, floor = to, to
    elseif n >= 0x40 then
      return nil, "a name has a label of an unknown type"
    else
      if at + n > #data then return nil, "a name goes beyond the end" end
      len = len + n + 1
      if len > NAME_MAX then return nil, "a name is longer than 255 bytes" end
      labels[#labels + 1] = escape(data:sub(at + 1, at + n), IN_NAMES)
      at = at + n + 1
    end
  end
end

-- ---- data of resource records ----

local function ipv4(data, at) return ("%d.%d.%d.%d"):format(data:byte(at, at + 3)) end

-- In the form of RFC 5952: the longest run of zeros is ::.
local function ipv6(data, at)
  local words, best, best_len, run = {}, nil, 1, 0
  for i = 1, 8 do
    words[i] = u16(data, at + i * 2 - 2)
    run = words[i] == 0 and run + 1 or 0
    if run > best_len then best, best_len = i - run + 1, run end
  end
  local parts = {}
  for i = 1, 8 do parts[i] = ("%x"):format(words[i]) end
  if not best then return table.concat(parts, ":") end
  return table.concat(parts, ":", 1, best - 1) .. "::" .. table.concat(parts, ":", best + best_len, 8)
end

local function name_behind(n, format)
  return function(data, at, len)
    if len <= n then return nil end
    local name = name_at(data, at + n)
    return name and format(name, data, at)
  end
end

local function plain(name) return name end

local show = {
  A = function(data, at, len) return len == 4 and ipv4(data, at) or nil end,
  AAAA = function(data, at, len) return len == 16 and ipv6(data, at) or nil end,
  CNAME = name_behind(0, plain), NS = name_behind(0, plain), PTR = name_behind(0, plain),
  DNAME = name_behind(0, plain), SOA = name_behind(0, plain),
  MX = name_behind(2, function(name, data, at) return ("%d %s"):format(u16(data, at), name) end),
  SRV = name_behind(6, function(name, data, at)
    return ("%d %d %s:%d"):format(u16(data, at), u16(data, at + 2), name, u16(data, at + 4))
  end),
  TXT = function(data, at, len)
    local n = math.min(data:byte(at) or 0, len - 1, TEXT_MAX)
    return n >= 0 and '"' .. escape(data:sub(at + 1, at + n), IN_TEXTS) .. '"' or nil
  end,
}

-- Returns the captured answers, and whether these are all; for a bad name the reason as well.
local function answers_at(data, at, n)
  local answers = {}
  for _ = 1, math.min(n, ANSWERS_MAX) do
    local name, after = name_at(data, at)
    local kind, len = u16(data, name and after or #data), u16(data, name and after + 8 or #data)
    if not name or not kind or not len or after + 10 + len - 1 > #data then
      -- A name that goes beyond the end may just be cut by the capture; another bad name is malformed.
      local why = not name and after ~= "a name goes beyond the end" and after or nil
      return answers, false, why
    end
    kind = type_name(kind)
    local text = show[kind] and show[kind](data, after + 10, len)
    answers[#answers + 1] = text and (kind == "CNAME" and "CNAME " .. text or text) or
                            ("%s, %d bytes"):format(kind, len)
    at = after + 10 + len
  end
  if n > ANSWERS_MAX then answers[#answers + 1] = ("and %d more"):format(n - ANSWERS_MAX) end
  return answers, true
end

-- Returns {id, is_answer, rcode, name, type, answers, truncated}, or nil and the reason. is_whole: the
-- bytes are the whole message.
function dns.parse(data, is_whole)
  if #data < 12 then return nil, "shorter than a header" end
  local flags, n_questions, n_answers = u16(data, 3), u16(data, 5), u16(data, 7)
  local message = {
    id = u16(data, 1), is_answer = flags & 0x8000 ~= 0,
    rcode = rcodes[flags & 15] or "RCODE" .. (flags & 15), truncated = flags & 0x0200 ~= 0,
    answers = {},
  }
  local at = 13
  if n_questions > 100 then return nil, ("%d questions"):format(n_questions) end
  for i = 1, n_questions do
    local name, after = name_at(data, at)
    if not name then
      if is_whole or after ~= "a name goes beyond the end" then return nil, after end
      return message
    end
    if not u16(data, after + 2) then
      if is_whole then return nil, "a question goes beyond the end" end
      return message
    end
    if i == 1 then message.name, message.type = name, type_name(u16(data, after)) end
    at = after + 4
  end
  if not message.is_answer then return message end
  local whole, why
  message.answers, whole, why = answers_at(data, at, n_answers)
  if why then return nil, why end
  if not whole and is_whole and not message.truncated then return nil, "an answer goes beyond the end" end
  message.truncated = message.truncated or not whole
  return message
end

return dns
