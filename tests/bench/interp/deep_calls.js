// SPDX-License-Identifier: Apache-2.0
// Prints the least time of a getppid below many different functions of JavaScript, in ns: deep_calls.js FUNCTIONS. Blocks
// of calls are short, and far enough apart that a reader of their samples keeps up.
'use strict';

const BLOCKS = 150;
const CALLS = 20;
const cell = new Int32Array(new SharedArrayBuffer(4));
const sleep = (ms) => Atomics.wait(cell, 0, 0, ms);

function spin() {
  sleep(1500); // the tables of the process are made meanwhile
  let least = Infinity;
  for (let i = 0; i < BLOCKS; i++) {
    process.ppid; // a getter that calls getppid
    const began = process.hrtime.bigint();
    for (let k = 0; k < CALLS; k++) process.ppid;
    least = Math.min(least, Number(process.hrtime.bigint() - began) / CALLS);
    sleep(4);
  }
  console.log(least);
}

const functions = [spin];
for (let i = 0; i < Number(process.argv[2]); i++)
  functions.push(new Function('f', `return function d${i}() { f(); return ${i}; }`)(functions[i]));
functions.at(-1)();
