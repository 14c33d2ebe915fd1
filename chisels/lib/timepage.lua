-- SPDX-License-Identifier: Apache-2.0
-- Draws lanes of slices, and below them the requests of each thread, as a page: require "timepage". The HTML
-- file is self-contained. A canvas shows the part of the time that is in view; slices narrower than a pixel
-- share it, and the longest one shows.
local report = require "report"
local timepage = {}

timepage.kinds = {
  {"running", "#3fa34d"}, {"runnable", "#e4572e"}, {"file", "#8d6a9f"}, {"network", "#3d8fd1"}, {"lock", "#d7263d"},
  {"sleep", "#c9ced6"}, {"poll", "#dfe3e8"}, {"pipe", "#e0a458"}, {"page_fault", "#b5446e"}, {"child", "#9bc1bc"},
  {"other", "#b0a990"}, {"unknown", "#ffffff"},
}
-- Looks of requests, in the order of timepage.style.
local styles = {{"request as client", "#8a63c9"}, {"request as server", "#2b4c7e"}, {"failed request", "#c2185b"}}
local index = {}
for i, k in ipairs(timepage.kinds) do index[k[1]] = i - 1 end

-- Returns JSON that is safe inside a script of a page.
local function json(value)
  return (chisel.json(value):gsub("[<>&]", {["<"] = "\\u003c", [">"] = "\\u003e", ["&"] = "\\u0026"}))
end

local entities = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;"}

local function escape(text) return (text:gsub('[&<>"]', entities)) end

local head = [[
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>%TITLE%</title><style>
body{margin:0;font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;color:#1d1f23;background:#fff}
h1{font-size:18px;font-weight:600;margin:12px 14px 2px}#sub,#legend{margin:0 14px;color:#5b616b;font-size:12px}
#legend{margin-top:6px}#legend i{display:inline-block;width:11px;height:11px;border-radius:2px;margin:0 4px -1px 10px;border:1px solid #aab}
#bar{position:absolute;right:14px;top:14px}button,input{font:inherit;padding:3px 9px;border:1px solid #c9ced6;border-radius:6px;background:#fff}
#box{position:relative;margin:8px 0 0;overflow-y:auto;height:calc(100vh - 118px)}canvas{display:block;cursor:grab}
#about{margin:4px 14px;font-size:12px;white-space:pre-wrap;min-height:16px}
</style></head><body><h1>%TITLE%</h1><div id="sub">%SUB%</div><div id="legend"></div>
<div id="bar"><input id="search" type="search" placeholder="Threads"> <button id="all">All</button></div>
<div id="about">The wheel zooms, dragging moves, a click says what a slice or a request is.</div>
<div id="box"><canvas id="c"></canvas></div>
<script>
'use strict';
]]

local script = [=[
(function(){
var LEFT=190,ROW=20,SPAN=15,TOP=22,canvas=document.getElementById('c'),g=canvas.getContext('2d'),box=document.getElementById('box');
var from=0,to=TOTAL,shown=LANES,width=0,picked=null;
var $=function(id){return document.getElementById(id)};
var legend=LANES.some(function(n){return n.rows})?KINDS.concat(STYLES):KINDS;
$('legend').innerHTML=legend.map(function(k){return '<i style="background:'+k[1]+'"></i>'+k[0].replace('_',' ')}).join('');
function height(n){return ROW+n.rows*SPAN}
function layout(){var y=TOP;shown.forEach(function(n){n.y=y;y+=height(n)});return y+4}
function laneAt(y){return shown.find(function(n){return y>=n.y&&y<n.y+height(n)})}
function time(ns){
  var u=[[1e9,'s'],[1e6,'ms'],[1e3,'us']];
  for(var i=0;i<3;i++)if(Math.abs(ns)>=u[i][0])return (ns/u[i][0]).toFixed(ns/u[i][0]<10?3:2)+' '+u[i][1];
  return ns+' ns';
}
function firstAt(b,l,t){ // the first slice that ends behind t
  var lo=0,hi=b.length;
  while(lo<hi){var m=(lo+hi)>>1;if(b[m]+l[m]<=t)lo=m+1;else hi=m}
  return lo;
}
function drawLane(n,y,k){
  var b=n.b,l=n.l,x=-1,most=0,kind=0;
  function flush(){if(x>=0){g.fillStyle=KINDS[kind][1];g.fillRect(x,y+2,1,ROW-4)}x=-1;most=0}
  for(var i=firstAt(b,l,from);i<b.length&&b[i]<to;i++){
    var a=LEFT+(b[i]-from)*k,e=LEFT+(b[i]+l[i]-from)*k;
    a=Math.max(a,LEFT);e=Math.min(e,width);
    if(e-a<1){
      var p=Math.floor(a);
      if(p!==x){flush();x=p}
      if(l[i]>most){most=l[i];kind=n.k[i]}
      continue;
    }
    flush();
    g.fillStyle=KINDS[n.k[i]][1];g.fillRect(a,y+2,e-a,ROW-4);
    if(picked===n.k&&picked.at===i){g.strokeStyle='#000';g.strokeRect(a+.5,y+2.5,e-a-1,ROW-5)}
    if(e-a>60){g.fillStyle='#15171a';g.fillText(KINDS[n.k[i]][0].replace('_',' ')+' '+time(l[i]),a+4,y+14,e-a-8)}
  }
  flush();
}
function drawSpans(n,k){
  var last=[];
  for(var i=0;i<n.rb.length&&n.rb[i]<to;i++){
    if(n.rb[i]+n.rl[i]<from)continue;
    var a=Math.max(LEFT+(n.rb[i]-from)*k,LEFT),e=Math.min(Math.max(LEFT+(n.rb[i]+n.rl[i]-from)*k,a+1),width),r=n.rr[i];
    if(e<=last[r])continue; // nothing of it would be seen
    last[r]=Math.ceil(e);
    var y=n.y+ROW+r*SPAN;
    g.fillStyle=STYLES[n.rs[i]][1];g.fillRect(a,y,e-a,SPAN-3);
    if(picked===n.rb&&picked.at===i){g.strokeStyle='#000';g.strokeRect(a+.5,y+.5,e-a-1,SPAN-4)}
    if(e-a>50){g.fillStyle='#fff';g.fillText(TEXTS[n.rn[i]]+' '+time(n.rl[i]),a+4,y+10,e-a-8)}
  }
}
function step(ns){
  var s=Math.pow(10,Math.floor(Math.log(ns)/Math.LN10));
  return ns/s>5?5*s:ns/s>2?2*s:s;
}
function draw(){
  var h=layout(),r=Math.min(window.devicePixelRatio||1,32000/h); // a limit of browsers
  width=box.clientWidth;
  canvas.width=width*r;canvas.height=h*r;canvas.style.width=width+'px';canvas.style.height=h+'px';
  g.setTransform(r,0,0,r,0,0);g.font='11px system-ui,sans-serif';g.clearRect(0,0,width,h);
  var k=(width-LEFT)/(to-from),s=Math.max(step((to-from)/8),1);
  g.fillStyle='#5b616b';g.strokeStyle='#e6e9ee';
  for(var t=Math.ceil(from/s)*s;t<to;t+=s){
    var x=LEFT+(t-from)*k;
    g.beginPath();g.moveTo(x,TOP-4);g.lineTo(x,h);g.stroke();g.fillText(time(t),x+3,13);
  }
  shown.forEach(function(n){
    g.fillStyle='#1d1f23';g.fillText(n.name,8,n.y+14,LEFT-16);
    drawLane(n,n.y,k);
    drawSpans(n,k);
  });
}
function clamp(){
  var w=Math.min(Math.max(to-from,10),TOTAL);
  if(from<0)from=0;
  if(from+w>TOTAL)from=TOTAL-w;
  to=from+w;
}
function at(e){var p=canvas.getBoundingClientRect();return{x:e.clientX-p.left,y:e.clientY-p.top}}
canvas.addEventListener('wheel',function(e){
  var p=at(e);
  if(p.x<LEFT||e.shiftKey)return;
  e.preventDefault();
  var f=Math.pow(1.0015,e.deltaY),t=from+(p.x-LEFT)/(width-LEFT)*(to-from);
  from=t-(t-from)*f;to=t+(to-t)*f;clamp();draw();
},{passive:false});
var drag=null;
canvas.addEventListener('mousedown',function(e){drag={x:e.clientX,from:from,to:to,moved:false}});
window.addEventListener('mousemove',function(e){
  if(!drag)return;
  var d=(e.clientX-drag.x)/(width-LEFT)*(drag.to-drag.from);
  if(Math.abs(e.clientX-drag.x)>3)drag.moved=true;
  if(!drag.moved)return;
  from=drag.from-d;to=drag.to-d;clamp();draw();
});
window.addEventListener('mouseup',function(){setTimeout(function(){drag=null},0)});
function pickSlice(n,t){
  var i=firstAt(n.b,n.l,t);
  if(i>=n.b.length||n.b[i]>t)return '';
  picked=n.k;picked.at=i;
  return KINDS[n.k[i]][0].replace('_',' ')+' '+time(n.l[i])+' at '+time(n.b[i])+(TEXTS[n.t[i]]?', '+TEXTS[n.t[i]]:'');
}
function pickSpan(n,t,row){
  var slack=(to-from)/(width-LEFT);
  for(var i=0;i<n.rb.length;i++){
    if(n.rr[i]!==row||n.rb[i]>t||Math.max(n.rb[i]+n.rl[i],n.rb[i]+slack)<t)continue;
    picked=n.rb;picked.at=i;
    return TEXTS[n.rn[i]]+' '+time(n.rl[i])+' at '+time(n.rb[i])+(TEXTS[n.rt[i]]?', '+TEXTS[n.rt[i]]:'');
  }
  return '';
}
canvas.addEventListener('click',function(e){
  if(drag&&drag.moved)return;
  var p=at(e),n=laneAt(p.y),t=from+(p.x-LEFT)/(width-LEFT)*(to-from);
  if(!n||p.x<LEFT)return;
  var row=Math.floor((p.y-n.y-ROW)/SPAN),text=row<0?pickSlice(n,t):pickSpan(n,t,row);
  if(text)$('about').textContent=n.name+': '+text;
  draw();
});
$('all').addEventListener('click',function(){from=0;to=TOTAL;draw()});
$('search').addEventListener('input',function(){
  var q=$('search').value.toLowerCase();
  shown=LANES.filter(function(n){return n.name.toLowerCase().indexOf(q)>=0});draw();
});
window.addEventListener('resize',draw);
var view=/^#(\d+)-(\d+)$/.exec(location.hash);
if(view){from=+view[1];to=+view[2];clamp()}
draw();
})();
</script></body></html>
]=]

local function lane_name(lane)
  local name = lane.thread or "?"
  if lane.process and lane.process ~= name then name = lane.process .. " / " .. name end
  return ("%s (%d)"):format(report.line(name), lane.tid)
end

local numbers, texts, n_texts = {}, {}, 0

local function text_number(text)
  if not numbers[text] then
    texts[n_texts + 1], numbers[text] = text, n_texts
    n_texts = n_texts + 1
  end
  return numbers[text]
end

local function put_numbers(name, list, of)
  io.write(name, ":[")
  for i, v in ipairs(list) do io.write(i > 1 and "," or "", ("%d"):format(of(v))) end
  io.write("]")
end

-- Returns the look of a request: 0 as client, 1 as server, 2 failed.
local function style(span)
  if span.failed then return 2 end
  return span.side == "server" and 1 or 0
end

local ROWS_MAX = 4 -- of requests below a thread; more that overlap share the last one

-- Puts requests that overlap in rows below each other. Returns the number of rows.
local function place(spans)
  local ends = {}
  table.sort(spans, function(a, b)
    if a.begin ~= b.begin then return a.begin < b.begin end
    return a.ns > b.ns
  end)
  for _, span in ipairs(spans) do
    local row = 1
    while row < ROWS_MAX and ends[row] and ends[row] > span.begin do row = row + 1 end
    span.row, ends[row] = row - 1, math.max(ends[row] or 0, span.begin + span.ns)
  end
  return #ends
end

local function put_spans(lane, first)
  io.write((",rows:%d,"):format(place(lane.spans)))
  put_numbers("rb", lane.spans, function(span) return span.begin - first end)
  io.write(",")
  put_numbers("rl", lane.spans, function(span) return span.ns end)
  io.write(",")
  put_numbers("rr", lane.spans, function(span) return span.row end)
  io.write(",")
  put_numbers("rs", lane.spans, style)
  io.write(",")
  put_numbers("rn", lane.spans, function(span) return text_number(span.name) end)
  io.write(",")
  put_numbers("rt", lane.spans, function(span) return text_number(span.text) end)
end

-- opts: title; first and last, nanoseconds since 1970; n and n_spans, the number of slices and of requests.
function timepage.draw(lanes, opts)
  local sub = ("%d slices of %d threads in %s, from %s on"):format(opts.n, #lanes, report.time(opts.last - opts.first),
                                                                report.clock(opts.first))
  if opts.n_spans > 0 then sub = ("%d requests, %s"):format(opts.n_spans, sub) end
  io.write((head:gsub("%%(%u+)%%", {TITLE = escape(report.line(opts.title)), SUB = escape(sub)})))
  io.write("var KINDS=", json(timepage.kinds), ",STYLES=", json(styles), ",TOTAL=", ("%d"):format(math.max(opts.last - opts.first, 1)), ",LANES=[\n")
  for i, lane in ipairs(lanes) do
    io.write(i > 1 and ",\n" or "", "{name:", json(lane_name(lane)), ",")
    put_numbers("b", lane.begins, function(v) return v - opts.first end)
    io.write(",")
    put_numbers("l", lane.lengths, function(v) return v end)
    io.write(",")
    put_numbers("k", lane.kinds, function(v) return index[v] or index.unknown end)
    io.write(",")
    put_numbers("t", lane.texts, text_number)
    put_spans(lane, opts.first)
    io.write("}")
  end
  io.write("],TEXTS=", json(texts), ";\n", script)
end

return timepage
