-- SPDX-License-Identifier: Apache-2.0
-- Draws lanes of slices, and below them the samples and requests of each thread, as a page: require "timepage". The HTML
-- file is self-contained. A canvas shows the part of the time that is in view; slices narrower than a pixel
-- share it, and the longest one shows.
local report = require "report"
local stacks = require "stacks"
local stacktree = require "stacktree"
local timepage = {}

timepage.kinds = {
  {"running", "#3fa34d"}, {"runnable", "#e4572e"}, {"file", "#8d6a9f"}, {"network", "#3d8fd1"}, {"lock", "#d7263d"},
  {"sleep", "#c9ced6"}, {"poll", "#dfe3e8"}, {"pipe", "#e0a458"}, {"page_fault", "#b5446e"}, {"child", "#9bc1bc"},
  {"other", "#b0a990"}, {"stopped", "#6b5b4b"}, {"throttled", "#8c2f1b"}, {"frozen", "#4a5a78"}, {"unknown", "#ffffff"},
}
-- Looks of requests, in the order of timepage.style.
local styles = {{"request as client", "#8a63c9"}, {"request as server", "#2b4c7e"}, {"failed request", "#c2185b"}}
-- Looks of samples, and their number by reason; the last one is that of other reasons.
local marks = {{"sample on CPU", "#1f6b2d"}, {"sample off CPU", "#7a8699"}, {"other sample", "#b26a00"}}
local mark_of = {cpu = 0, off_cpu = 1}
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
#legend{margin-top:6px}#legend span{white-space:nowrap}#legend i{display:inline-block;width:11px;height:11px;border-radius:2px;margin:0 4px -1px 10px;border:1px solid #aab}
#bar{position:absolute;right:14px;top:14px}button,input{font:inherit;padding:3px 9px;border:1px solid #c9ced6;border-radius:6px;background:#fff}
#box{position:relative;margin:8px 0 0;overflow-y:auto;height:calc(100vh - 118px)}canvas{display:block;cursor:grab}
#about{margin:4px 14px;font-size:12px;white-space:pre-wrap;min-height:16px;max-height:64px;overflow-y:auto}
#tip{position:fixed;display:none;pointer-events:none;white-space:pre;padding:6px 9px;background:#fff;border:1px solid #aab;
border-radius:6px;box-shadow:0 2px 8px #0003;font:12px ui-monospace,"DejaVu Sans Mono",monospace;max-width:80vw;overflow:hidden}
</style></head><body><h1>%TITLE%</h1><div id="sub">%SUB%</div><div id="legend"></div>
<div id="bar"><input id="search" type="search" placeholder="Threads"> <button id="all">All</button></div>
<div id="about">The wheel zooms, dragging moves, a click says what a slice, a sample or a request is.</div>
<div id="box"><canvas id="c"></canvas></div><div id="tip"></div>
<script>
'use strict';
]]

local script = [=[
(function(){
var LEFT=190,ROW=20,MARK=9,SPAN=15,TOP=22,FRAMES_MAX=40,canvas=document.getElementById('c'),g=canvas.getContext('2d'),box=document.getElementById('box');
var from=0,to=TOTAL,shown=LANES,width=0,picked=null;
var $=function(id){return document.getElementById(id)};
function any(f){return LANES.some(f)}
var legend=KINDS.concat(any(function(n){return n.rows})?STYLES:[],
  MARKS.filter(function(m,k){return any(function(n){return n.sk.indexOf(k)>=0})}));
$('legend').innerHTML=legend.map(function(k){return '<span><i style="background:'+k[1]+'"></i>'+k[0].replace('_',' ')+'</span> '}).join('');
function marked(n){return n.sb.length?MARK:0} // the height of the samples
function height(n){return ROW+marked(n)+n.rows*SPAN}
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
function drawMarks(n,k){
  var last=-1;
  for(var i=firstAt(n.sb,n.sl,from-1/k);i<n.sb.length&&n.sb[i]<to;i++){
    var a=Math.max(LEFT+(n.sb[i]-from)*k,LEFT),e=Math.min(Math.max(LEFT+(n.sb[i]+n.sl[i]-from)*k,a+1),width);
    if(e<=last)continue; // nothing of it would be seen
    last=Math.ceil(e);
    g.fillStyle=MARKS[n.sk[i]][1];g.fillRect(a,n.y+ROW,e-a,MARK-3);
    if(picked===n.sb&&picked.at===i){g.strokeStyle='#000';g.strokeRect(a+.5,n.y+ROW-.5,Math.max(e-a-1,2),MARK-2)}
  }
}
function drawSpans(n,k){
  var last=[];
  for(var i=0;i<n.rb.length&&n.rb[i]<to;i++){
    if(n.rb[i]+n.rl[i]<from)continue;
    var a=Math.max(LEFT+(n.rb[i]-from)*k,LEFT),e=Math.min(Math.max(LEFT+(n.rb[i]+n.rl[i]-from)*k,a+1),width),r=n.rr[i];
    if(e<=last[r])continue; // nothing of it would be seen
    last[r]=Math.ceil(e);
    var y=n.y+ROW+marked(n)+r*SPAN;
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
    drawMarks(n,k);
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
function sampleAt(n,t){ // the one at the time t, else the nearest one within 3 pixels; -1: none
  var slack=3*(to-from)/(width-LEFT),best=-1,least=slack;
  for(var i=firstAt(n.sb,n.sl,t-slack);i<n.sb.length&&n.sb[i]<t+slack;i++){
    var d=Math.max(n.sb[i]-t,t-n.sb[i]-n.sl[i],0);
    if(d<=least){best=i;least=d}
  }
  return best;
}
function framesOf(s){ // innermost first
  var list=[],more=0;
  for(;s>=0;s=PARENT[s])if(list.length<FRAMES_MAX)list.push(NAMES[FRAME[s]]);else more++;
  if(more)list.push('('+more+' more)');
  return list.length?list:['[no stack]'];
}
function aboutSample(n,i){
  var k=n.sk[i];
  return (k<2?MARKS[k][0]:'sample of '+TEXTS[n.sr[i]])+(n.sl[i]?' for '+time(n.sl[i]):'')+' at '+time(n.sb[i]);
}
function pickSample(n,t){
  var i=sampleAt(n,t);
  if(i<0)return '';
  picked=n.sb;picked.at=i;
  return aboutSample(n,i)+': '+framesOf(n.ss[i]).join(' < ');
}
function tip(e){
  var p=at(e),n=laneAt(p.y),t=from+(p.x-LEFT)/(width-LEFT)*(to-from),s=$('tip').style;
  var i=n&&!drag&&p.x>=LEFT&&p.y>=n.y+ROW&&p.y<n.y+ROW+marked(n)?sampleAt(n,t):-1;
  s.display=i<0?'none':'block';
  if(i<0)return;
  $('tip').textContent=aboutSample(n,i)+'\n'+framesOf(n.ss[i]).join('\n');
  s.left=Math.max(Math.min(e.clientX+14,innerWidth-$('tip').offsetWidth-4),0)+'px';
  s.top=Math.max(Math.min(e.clientY+12,innerHeight-$('tip').offsetHeight-4),0)+'px';
}
canvas.addEventListener('mousemove',tip);
canvas.addEventListener('mouseleave',function(){$('tip').style.display='none'});
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
  var y=p.y-n.y-ROW,m=marked(n),text=y<0?pickSlice(n,t):y<m?pickSample(n,t):pickSpan(n,t,Math.floor((y-m)/SPAN));
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

local function put_numbers(list, of)
  io.write("[")
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

-- Writes arrays of numbers, a list of {NAME, LIST, OF}: of(element) is the number.
local function put_arrays(rows)
  for _, row in ipairs(rows) do
    io.write(",", row[1], ":")
    put_numbers(row[2], row[3])
  end
end

local function put_spans(lane, first)
  local spans = lane.spans
  io.write((",rows:%d"):format(place(spans)))
  put_arrays {
    {"rb", spans, function(span) return span.begin - first end},
    {"rl", spans, function(span) return span.ns end},
    {"rr", spans, function(span) return span.row end},
    {"rs", spans, style},
    {"rn", spans, function(span) return text_number(span.name) end},
    {"rt", spans, function(span) return text_number(span.text) end},
  }
end

local function put_samples(lane, first, tree)
  local samples = lane.samples
  put_arrays {
    {"sb", samples, function(sample) return sample.begin - first end},
    {"sl", samples, function(sample) return sample.ns end},
    {"sk", samples, function(sample) return mark_of[sample.reason] or #marks - 1 end},
    {"sr", samples, function(sample) return text_number(sample.reason) end},
    {"ss", samples, function(sample) return tree.number(sample.stack.frames) or -1 end},
  }
end

local function same(v) return v end

local function put_lane(lane, first, tree)
  io.write("{name:", json(lane_name(lane)))
  put_arrays {
    {"b", lane.begins, function(v) return v - first end},
    {"l", lane.lengths, same},
    {"k", lane.kinds, function(v) return index[v] or index.unknown end},
    {"t", lane.texts, text_number},
  }
  put_samples(lane, first, tree)
  put_spans(lane, first)
  io.write("}")
end

-- opts: title; first and last, nanoseconds since 1970; n, n_spans and n_samples, the number of slices, of requests and
-- of samples.
function timepage.draw(lanes, opts)
  local sub = ("%d slices of %d threads in %s, from %s on"):format(opts.n, #lanes, report.time(opts.last - opts.first),
                                                                report.clock(opts.first))
  if opts.n_samples > 0 then sub = ("%d samples, %s"):format(opts.n_samples, sub) end
  if opts.n_spans > 0 then sub = ("%d requests, %s"):format(opts.n_spans, sub) end
  io.write((head:gsub("%%(%u+)%%", {TITLE = escape(report.line(opts.title)), SUB = escape(sub)})))
  io.write("var KINDS=", json(timepage.kinds), ",STYLES=", json(styles), ",MARKS=", json(marks))
  io.write((",TOTAL=%d,LANES=[\n"):format(math.max(opts.last - opts.first, 1)))
  local tree = stacktree(stacks.folded_name)
  for i, lane in ipairs(lanes) do
    io.write(i > 1 and ",\n" or "")
    put_lane(lane, opts.first, tree)
  end
  io.write("],TEXTS=", json(texts), ",NAMES=", json(tree.texts), ",FRAME=")
  put_numbers(tree.frames, same)
  io.write(",PARENT=")
  put_numbers(tree.parents, same)
  io.write(";\n", script)
end

return timepage
