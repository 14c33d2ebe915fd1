-- SPDX-License-Identifier: Apache-2.0
-- Draws a tree of stacks as a flame graph: require "flamesvg". The SVG file is self-contained; it has
-- search and zoom where scripts run, and is readable where they do not.
local stacks = require "stacks"
local escape = require "xmltext"
local flamesvg = {}

local WIDTH, PAD, ROW, HEAD, FOOT = 1200, 12, 18, 76, 34
local CHAR = 6.63     -- width of a character of the frames' font
local LEAST = 0.15    -- pixels: narrower frames are left out
flamesvg.least = LEAST / (WIDTH - 2 * PAD) -- as a share of all samples

local function hash(text)
  local h = 2166136261
  for i = 1, #text do h = ((h ~ text:byte(i)) * 16777619) & 0xffffffff end
  return (h ~ (h >> 15)) / 0xffffffff
end

-- ---- colours: a hue for each kind of code, a shade for each module and function ----

flamesvg.kinds = {
  {kind = "u", text = "program", hue = 14, span = 38, saturation = 88, light = 66},
  {kind = "i", text = "inlined", hue = 44, span = 12, saturation = 85, light = 76},
  {kind = "k", text = "kernel", hue = 202, span = 24, saturation = 62, light = 70},
  {kind = "j", text = "JIT code", hue = 100, span = 36, saturation = 50, light = 66},
  {kind = "s", text = "script", hue = 275, span = 30, saturation = 55, light = 76},
  {kind = "?", text = "not known", hue = 0, span = 0, saturation = 0, light = 80},
}
local by_kind = {p = {hue = 220, span = 0, saturation = 8, light = 78},
                 t = {hue = 220, span = 0, saturation = 8, light = 82},
                 a = {hue = 220, span = 0, saturation = 8, light = 86}}
for _, k in ipairs(flamesvg.kinds) do by_kind[k.kind] = k end

function flamesvg.color_of(node)
  local k = by_kind[node.kind] or by_kind["?"]
  local module = node.frame and node.frame.module or ""
  return ("hsl(%d,%d%%,%d%%)"):format(k.hue + math.floor(k.span * hash(module .. "x")),
    k.saturation, k.light + (k.span > 0 and math.floor(9 * hash(node.name)) - 4 or 0))
end

-- ---- the parts of the file other than frames ----

local style = [[
svg{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;background:#fff}
#title{font-size:18px;font-weight:600;fill:#1d1f23}#sub,#foot text,#found{font-size:12px;fill:#5b616b}
.f{cursor:pointer}.f rect{stroke:#fff;stroke-width:.8}
.f text,.f{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#15171a}
.f text{pointer-events:none}.f:hover rect{stroke:#111;stroke-width:1}
.above{opacity:.55}.hit rect{fill:#d65bd6 !important}
#tip{pointer-events:none}#tip rect{fill:#1d1f23;opacity:.94}#tip text{font-size:12px;fill:#fff}
#bar{font:12px system-ui,sans-serif;display:flex;gap:6px;justify-content:flex-end}
#bar input,#bar button{font:inherit;padding:4px 9px;border:1px solid #c9ced6;border-radius:6px;background:#fff;color:#1d1f23}
#bar input{width:190px}#bar button{cursor:pointer}#bar button:hover{background:#eef1f5}
@media (prefers-color-scheme:dark){svg{background:#17181c}#title{fill:#eceef2}#sub,#foot text,#found{fill:#9aa1ad}
.f rect{stroke:#17181c}.f:hover rect{stroke:#fff}#bar input,#bar button{background:#24262c;color:#eceef2;border-color:#3b3f48}
#bar button:hover{background:#30333b}#tip rect{fill:#000}}
]]

local script = [[
'use strict';
(function(){
var svg=document.documentElement,NS='http://www.w3.org/2000/svg';
var PAD=%PAD%,ROW=%ROW%,HEAD=%HEAD%,CHAR=%CHAR%,BASE=%BASE%,HEIGHT=%HEIGHT%;
var $=function(id){return document.getElementById(id)};
var flipped=false,focus=null,query='',width=0;
var nodes=Array.prototype.map.call(document.querySelectorAll('.f'),function(g){
  var r=g.querySelector('rect'),t=g.querySelector('title'),lines=t.textContent.split('\n');
  var n={g:g,r:r,t:g.querySelector('text'),x:+r.getAttribute('x')-PAD,w:+r.getAttribute('width'),
    d:+g.getAttribute('data-d'),name:lines[0],lines:lines};
  g.removeChild(t);
  if(!n.t){n.t=document.createElementNS(NS,'text');g.appendChild(n.t)}
  g.addEventListener('click',function(){zoom(n)});
  g.addEventListener('mousemove',function(e){tip(n,e)});
  g.addEventListener('mouseleave',function(){$('tip').style.display='none'});
  return n;
});
focus=nodes[0];
function fit(name,w){
  var c=Math.floor((w-6)/CHAR);
  if(c<3)return '';
  return name.length<=c?name:name.slice(0,c-1)+'\u2026';
}
function layout(){
  width=Math.max(svg.clientWidth||BASE+2*PAD,400)-2*PAD;
  var k=width/focus.w,end=focus.x+focus.w,eps=1e-6;
  nodes.forEach(function(n){
    var above=n.d<focus.d&&n.x<=focus.x+eps&&n.x+n.w>=end-eps;
    var inside=n.d>=focus.d&&n.x>=focus.x-eps&&n.x+n.w<=end+eps;
    var x=above?0:(n.x-focus.x)*k,w=above?width:n.w*k;
    if(!(above||inside)||w<.3){n.g.style.display='none';return}
    n.g.style.display='';
    n.g.classList.toggle('above',above);
    var y=HEAD+(flipped?n.d:HEIGHT-1-n.d)*ROW;
    n.r.setAttribute('x',PAD+x);n.r.setAttribute('width',w);n.r.setAttribute('y',y);
    n.t.setAttribute('x',PAD+x+4);n.t.setAttribute('y',y+ROW-5.5);n.t.textContent=fit(n.name,w);
  });
  var bar=$('bar').parentNode;
  bar.setAttribute('x',width+2*PAD-PAD-440);
  $('found').setAttribute('x',width+PAD);
}
function zoom(n){focus=n;layout()}
function tip(n,e){
  var box=$('tip'),t=box.querySelector('text'),r=box.querySelector('rect');
  while(t.firstChild)t.removeChild(t.firstChild);
  n.lines.forEach(function(line,i){
    var s=document.createElementNS(NS,'tspan');
    s.setAttribute('x',9);s.setAttribute('dy',i?17:0);
    if(!i)s.setAttribute('font-weight','600');
    s.textContent=line.length>140?line.slice(0,139)+'\u2026':line;t.appendChild(s);
  });
  box.style.display='';
  var b=t.getBBox(),p=svg.createSVGPoint();p.x=e.clientX;p.y=e.clientY;
  p=p.matrixTransform(svg.getScreenCTM().inverse());
  r.setAttribute('width',b.width+18);r.setAttribute('height',b.height+12);
  var x=Math.max(2,Math.min(p.x+14,width+2*PAD-b.width-22)),below=p.y+18;
  if(e.clientY+b.height+40>window.innerHeight)below=p.y-b.height-22;
  box.setAttribute('transform','translate('+x+','+below+')');
}
function matcher(q){
  try{var re=new RegExp(q,'i');return function(s){return re.test(s)}}
  catch(_){q=q.toLowerCase();return function(s){return s.toLowerCase().indexOf(q)>=0}}
}
function search(q){
  query=q;
  var is=q?matcher(q):function(){return false},hits=[];
  nodes.forEach(function(n){
    var hit=n.d>0&&is(n.name);
    n.g.classList.toggle('hit',hit);
    if(hit)hits.push(n);
  });
  hits.sort(function(a,b){return a.x-b.x||b.w-a.w});
  var sum=0,end=-1;
  hits.forEach(function(n){
    var to=n.x+n.w;
    if(n.x>=end-1e-6){sum+=n.w;end=to}else if(to>end){sum+=to-end;end=to}
  });
  $('found').textContent=q?hits.length+' found, '+(100*sum/BASE).toFixed(2)+'% of all':'';
}
var input=$('search');
input.addEventListener('input',function(){search(input.value)});
$('reset').addEventListener('click',function(){input.value='';search('');zoom(nodes[0])});
$('flip').addEventListener('click',function(){flipped=!flipped;layout()});
window.addEventListener('resize',layout);
window.addEventListener('keydown',function(e){
  if(e.key==='Escape'){input.value='';input.blur();search('');zoom(nodes[0])}
  else if(e.key==='/'&&document.activeElement!==input){input.focus();e.preventDefault()}
});
// Taller than the window: the root above, where one looks first.
flipped=+svg.getAttribute('height')>window.innerHeight;
decodeURIComponent(location.hash.slice(1)).split('&').forEach(function(part){
  var at=part.indexOf('='),key=part.slice(0,at),value=part.slice(at+1);
  if(key==='search'){input.value=value;search(value)}
  if(key==='zoom'){var n=nodes.filter(function(n){return n.name===value})[0];if(n)focus=n}
  if(key==='flip')flipped=value==='1';
});
svg.setAttribute('width','100%');svg.removeAttribute('viewBox');
layout();
})();
]]

local function put_head(opts, height, total_height)
  io.write('<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n',
    ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">\n')
      :format(WIDTH, total_height, WIDTH, total_height),
    "<style>", style, "</style>\n",
    ('<text id="title" x="%d" y="30">%s</text>\n'):format(PAD, escape(opts.title)),
    ('<text id="sub" x="%d" y="52">%s</text>\n'):format(PAD, escape(opts.subtitle)),
    ('<text id="found" x="%d" y="62" text-anchor="end"></text>\n'):format(WIDTH - PAD),
    ('<foreignObject x="%d" y="12" width="440" height="34">'):format(WIDTH - PAD - 440),
    '<div xmlns="http://www.w3.org/1999/xhtml" id="bar">',
    '<input id="search" type="search" placeholder="Search (regex)"/>',
    '<button id="flip" title="Root at the top or at the bottom">Flip</button>',
    '<button id="reset" title="Show all (Esc)">Reset</button></div></foreignObject>\n')
end

local function put_foot(opts, y)
  io.write('<g id="foot">')
  local x = PAD
  for _, k in ipairs(opts.legend or flamesvg.kinds) do
    local fill = k.fill or ("hsl(%d,%d%%,%d%%)"):format(k.hue + k.span // 2, k.saturation, k.light)
    io.write(('<rect x="%d" y="%d" width="12" height="12" rx="2" style="fill:%s"/><text x="%d" y="%d">%s</text>')
      :format(x, y + 12, fill, x + 17, y + 22, k.text))
    x = x + 34 + math.floor(#k.text * 6.6)
  end
  io.write("</g>\n")
end

local function fit(name, width)
  local n = math.floor((width - 6) / CHAR)
  if n < 3 then return nil end
  local len = utf8.len(name)
  if not len or len <= n then return len and name or name:sub(1, n) end
  return name:sub(1, utf8.offset(name, n) - 1) .. "\u{2026}"
end

local function put_frame(node, depth, x, width, y, opts)
  io.write(('<g class="f" data-d="%d"><title>%s</title><rect x="%.2f" y="%d" width="%.2f" height="%d" rx="2" style="fill:%s"/>')
    :format(depth, escape(node.name .. "\n" .. opts.describe(node)), x, y, width, ROW - 1,
            (opts.color or flamesvg.color_of)(node)))
  local label = fit(node.name, width)
  if label then io.write(('<text x="%.2f" y="%.1f">%s</text>'):format(x + 4, y + ROW - 5.5, escape(label))) end
  io.write("</g>\n")
end

-- opts: title; subtitle; describe(node) returns the text below its name; color(node); legend: a list of
-- {text, fill}.
function flamesvg.draw(root, opts)
  local base, scale = WIDTH - 2 * PAD, (WIDTH - 2 * PAD) / math.max(root.value, 1)
  local height, lefts, frames = 1, {[0] = 0}, {}
  stacks.each(root, function(node, depth)
    local left = lefts[depth] or 0
    lefts[depth] = left + node.value
    lefts[depth + 1] = left
    if node.value * scale < LEAST then return false end
    height = math.max(height, depth + 1)
    frames[#frames + 1] = {node, depth, left}
  end)
  local total_height = HEAD + height * ROW + FOOT
  put_head(opts, height, total_height)
  io.write('<g id="frames">\n')
  for _, f in ipairs(frames) do
    put_frame(f[1], f[2], PAD + f[3] * scale, root.value > 0 and f[1].value * scale or base,
              HEAD + (height - 1 - f[2]) * ROW, opts)
  end
  io.write("</g>\n")
  put_foot(opts, HEAD + height * ROW)
  io.write('<g id="tip" style="display:none"><rect rx="5"/><text y="19"></text></g>\n',
    "<script><![CDATA[\n",
    (script:gsub("%%(%u+)%%", {PAD = PAD, ROW = ROW, HEAD = HEAD, CHAR = CHAR, BASE = base,
                               HEIGHT = height})),
    "]]></script>\n</svg>\n")
end

return flamesvg
