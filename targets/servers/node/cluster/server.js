// A server that uses http from the standard library. With more than one worker, the standard library's cluster starts the workers and
// distributes the connections among them.
// With a certificate and its key, it serves HTTPS, and HTTP/2 through the compatibility API of http2.
// Usage: node server.js HOST PORT WORKERS [CERT KEY]
'use strict';

const cluster = require('node:cluster');
const fs = require('node:fs');
const http = require('node:http');
const http2 = require('node:http2');

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

function create(cert, key) {
  if (!cert) return http.createServer(answer);
  return http2.createSecureServer({ cert: fs.readFileSync(cert), key: fs.readFileSync(key), allowHTTP1: true }, answer);
}

function startWorkers(count) {
  for (let i = 0; i < count; i++) cluster.fork();
  // The primary exits on its own after its last worker.
  process.once('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM');
  });
}

const [host, port, workers, cert, key] = process.argv.slice(2);
if (cluster.isPrimary && Number(workers) > 1) startWorkers(Number(workers));
else create(cert, key).listen({ host, port: Number(port), backlog: 4096 });
