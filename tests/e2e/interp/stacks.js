// SPDX-License-Identifier: Apache-2.0
// Calls functions in random order and depth, also through V8's builtins. At each end it writes the
// stack that V8 itself has to a file, as JSON, and waits. Arguments: the file, the number of stacks,
// the seed, a file: it begins when that is there; and stacks_napi.c, if calls shall go through C.
'use strict';
const fs = require('fs');
const [, , path, count, seedText, start, addon] = process.argv;
const out = fs.openSync(path, 'w');
const cell = new Int32Array(new SharedArrayBuffer(4));
const text = fs.readFileSync(__filename, 'utf8');
let left = Number(count);
let seed = Number(seedText);

function random(n) {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >> 8) % n;
}

// Lines are computed here, so that V8 does not make its own table of them.
const lines = [];
for (let i = -1; (i = text.indexOf('\n', i + 1)) >= 0;) lines.push(i);
function lineOf(position) {
  let n = 0;
  for (let step = 1 << 16; step; step >>= 1) {
    if (n + step <= lines.length && lines[n + step - 1] < position) n += step;
  }
  return n + 1;
}

// Builtins have no line. Names that functions got when they were made are not those of their code.
function frame(site) {
  const name = site.getFunctionName() || '';
  const hidden = !name || site.isEval() || /^[<[]/.test(name);
  const line = site.getFileName() === __filename ? lineOf(site.getPosition()) : site.getLineNumber();
  return [hidden ? '<anonymous>' : name.replace(/^([gs]et|bound) /, ''), line || 0];
}
Error.stackTraceLimit = Infinity;

function record() {
  const made = Error.prepareStackTrace;
  Error.prepareStackTrace = (_, sites) => sites.map(frame);
  const at = {};
  Error.captureStackTrace(at, record);
  const stack = at.stack;
  Error.prepareStackTrace = made;
  fs.writeSync(out, JSON.stringify(stack) + '\n');
  left--;
}

function nap() {
  record(); Atomics.wait(cell, 0, 0, 0.2);
}

class Some {
  constructor(n) {
    if (n) go(n - 1);
  }

  static byClass(n) {
    return go(n);
  }

  method(n) {
    return go(n);
  }

  get property() {
    return go(this.n);
  }

  set property(n) {
    go(n);
  }

  toJSON() {
    go(this.n);
    return 1;
  }

  * generated(n) {
    go(n);
    yield 1;
  }

  [Symbol.iterator]() {
    go(this.n);
    return [1][Symbol.iterator]();
  }

  toString() {
    go(this.n);
    return 'text';
  }

  #hidden(n) {
    go(n);
  }

  byHidden(n) {
    this.#hidden(n);
  }
}

class Other extends Some {
  method(n) {
    return super.method(n);
  }
}

function some(n) {
  const s = new Some(0);
  s.n = n;
  return s;
}

function plain(n) {
  return go(n);
}

function inlined(n) { return plain(n); }

function nested(n) {
  const inner = (k) => {
    const innermost = function (v) { go(v); };
    innermost(k);
  };
  inner(n);
}

function after(n) {
  try {
    throw new Error('expected');
  } catch {
    go(n);
  } finally {
    cell[0] = 0;
  }
}

function inLoop(n) {
  for (let i = 0; i < 2; i++) {
    if (i) go(n);
  }
}

async function asynchronous(n) {
  go(n);
}

const calls = [
  plain, inlined, nested, after, inLoop, asynchronous,
  (n) => go(n),
  function each(n) { [n].forEach((k) => go(k)); },
  function mapped(n) { return [n].map((k) => { go(k); return k; }); },
  function reduced(n) { return [1, n].reduce((_, k) => go(k)); },
  function sorted(n) {
    let done = false;
    [2, 1].sort((a, b) => {
      if (!done) { done = true; go(n); }
      return a - b;
    });
  },
  function replaced(n) { return 'x'.replace(/x/, () => { go(n); return 'y'; }); },
  function stringified(n) { return JSON.stringify([some(n)]); },
  function parsed(n) { return JSON.parse('1', () => go(n)); },
  function made(n) { return new Some(n); },
  function derived(n) { new Other(0).method(n); },
  function byClass(n) { return Some.byClass(n); },
  function got(n) { return some(n).property; },
  function assigned(n) { some(0).property = n; },
  function hidden(n) { some(0).byHidden(n); },
  function generates(n) { return [...some(0).generated(n)]; },
  function iterated(n) { for (const k of some(n)) cell[0] = 0 * k; },
  function interpolated(n) { return `${some(n)}`; },
  function called(n) { plain.call(null, n); },
  function applied(n) { plain.apply(null, [n]); },
  function reflected(n) { Reflect.apply(plain, null, [n]); },
  function bound(n) { plain.bind(null, n)(); },
  function proxied(n) { return new Proxy({}, { get: (_, k) => go(Number(k)) })[n]; },
  function evaluated(n) { return eval('go(n)'); },
  function newFunction(n) { return new Function('f', 'n', 'f(n)')(go, n); },
  function inSet(n) { new Set([n]).forEach((k) => go(k)); },
  function found(n) { return [n].find((k) => { go(k); return false; }); },
  function from(n) { return Array.from([n], (k) => go(k)); },
];

if (addon) {
  const native = require(addon);
  calls.push(
    function inC(n) { return native.call(go, n); },
    function deepInC(n) { return native.deep((k) => plain(k), n); },
    function madeInC(n) { return native.make(Some, n); },
    function caughtInC(n) {
      return native.caught((k) => { go(k); throw new Error('expected'); }, n);
    },
  );
}

function go(n) {
  if (n <= 0) {
    nap();
  } else {
    calls[random(calls.length)](n - 1);
  }
  return 1;
}

function warm_up() {
  Atomics.wait(cell, 0, 0, 10);
}

while (!fs.existsSync(start)) warm_up();
while (left > 0) go(random(16));
