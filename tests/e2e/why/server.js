// SPDX-License-Identifier: Apache-2.0
// A server of which each request takes its time in functions of the runtime, and its client.
'use strict';
const http = require('http');

function handle(request, response)
{
	const ends = Date.now() + 40;
	let n = 0;
	while (Date.now() < ends)
		n += JSON.stringify(Array.from({ length: 3000 }, (_, i) => i * n)).length;
	response.end(String(n));
}

let left = 30;
const server = http.createServer(handle).listen(0, '127.0.0.1', function next() {
	http.get({ port: server.address().port, host: '127.0.0.1', path: '/page' }, (response) => {
		response.resume().on('end', () => (--left ? next() : process.exit()));
	});
});
