// A server that uses http from the standard library. With more than one worker, the standard library's cluster starts the workers and
// distributes the connections among them.
// Usage: node server.js HOST PORT WORKERS
'use strict';

const cluster = require('node:cluster');
const http = require('node:http');

const BODY = 'Hello, World!';

function answer(request, response) {
  if (request.url === '/') {
    response.writeHead(200, { Server: 'node', 'Content-Type': 'text/plain', 'Content-Length': BODY.length });
    response.end(BODY);
  } else if (request.url === '/json') {
    const body = JSON.stringify({ message: BODY });
    response.writeHead(200, { Server: 'node', 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  } else {
    response.writeHead(404, { Server: 'node', 'Content-Length': 0 });
    response.end();
  }
}

function serve(host, port) {
  http.createServer(answer).listen({ host, port, backlog: 4096 });
}

function startWorkers(count) {
  for (let i = 0; i < count; i++) cluster.fork();
  // The primary exits on its own after its last worker.
  process.once('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM');
  });
}

const [host, port, workers] = process.argv.slice(2);
if (cluster.isPrimary && Number(workers) > 1) startWorkers(Number(workers));
else serve(host, Number(port));
