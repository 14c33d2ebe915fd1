// SPDX-License-Identifier: Apache-2.0
// Waits below builtins that the compiler has inlined, with what they call back. To be run with
// --allow-natives-syntax.
const cell = new Int32Array(new SharedArrayBuffer(4));

function nap() {
  Atomics.wait(cell, 0, 0, 5);
}

function each(n) {
  [n].forEach((k) => { nap(k); });
}

function mapped(n) {
  return [n].map((k) => {
    nap(k);
    return k;
  });
}

function reduced(n) {
  return [1, n].reduce((_, k) => nap(k));
}

function called(n) {
  nap.call(null, n);
}

%NeverOptimizeFunction(nap);
for (const f of [each, mapped, reduced, called]) %PrepareFunctionForOptimization(f);
// The tables of the program come late on a busy machine.
for (let round = 0; round < 4; round++) {
  for (const f of [each, mapped, reduced, called]) {
    for (let i = 0; i < 20; i++) f(i);
    if (!round) %OptimizeMaglevOnNextCall(f);
    for (let i = 0; i < 40; i++) f(i);
  }
}
