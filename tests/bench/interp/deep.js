// SPDX-License-Identifier: Apache-2.0
// A loop below many functions of JavaScript: deep.js FUNCTIONS SECONDS.
'use strict';

function spin(ends) {
  let n = 0;
  while (Date.now() < ends) {
    for (let i = 0; i < 10000; i++) n += i % 3;
  }
  return n;
}

function down(n, ends) {
  if (n) down(n - 1, ends);
  else spin(ends);
  return n;
}

down(Number(process.argv[2]), Date.now() + 1000 * Number(process.argv[3]));
