// SPDX-License-Identifier: Apache-2.0
// A worker that waits for ever.
'use strict';
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');

function waits_for_ever()
{
	parentPort.postMessage('waits');
	Atomics.wait(new Int32Array(workerData), 0, 0);
}

if (isMainThread)
	new Worker(__filename, { workerData: new SharedArrayBuffer(4) }).on('message', (text) => console.log(text));
else
	waits_for_ever();
