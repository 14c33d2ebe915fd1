// SPDX-License-Identifier: Apache-2.0
// Makes garbage for a second of CPU time. Writes the share of time that V8 itself has counted for garbage collection.
const { PerformanceObserver, performance } = require('perf_hooks');

let counted = 0, began, ended, sum = 0;
const kept = [];

function churn() {
	for (let i = 0; i < 2000; i++)
		kept[(Math.random() * 60000) | 0] = { i, text: 'x' + i, list: [i, Math.sin(i)] };
	for (let i = 0; i < 20000; i++)
		sum += Math.cos(i);
}

function used() {
	const { user, system } = process.cpuUsage();
	return user + system;
}

function work() {
	const before = used();
	began = performance.now();
	while (used() - before < 1e6)
		churn();
	ended = performance.now();
}

function warmUp() {
	const end = performance.now() + 2000;
	while (performance.now() < end)
		churn();
}

warmUp();
new PerformanceObserver((list) => {
	for (const entry of list.getEntries())
		if (entry.startTime >= began && entry.startTime < ended)
			counted += entry.duration;
}).observe({ entryTypes: ['gc'] });
work();
setTimeout(() => console.log(counted / (ended - began)), 100);
