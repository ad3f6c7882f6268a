// Fastify without its logger. With more than one worker, cluster starts the workers and distributes the connections among them.
// With a certificate and its key, it serves HTTPS and HTTP/2.
// Usage: node server.js HOST PORT WORKERS [CERT KEY]
'use strict';

const cluster = require('node:cluster');
const fs = require('node:fs');
const fastify = require('fastify');

async function hello(request, reply) {
  reply.header('Server', 'fastify').type('text/plain');
  return 'Hello, World!';
}

async function json(request, reply) {
  reply.header('Server', 'fastify');
  return { message: 'Hello, World!' };
}

function create(cert, key) {
  if (!cert) return fastify();
  return fastify({ http2: true, https: { allowHTTP1: true, cert: fs.readFileSync(cert), key: fs.readFileSync(key) } });
}

function serve(host, port, cert, key) {
  const app = create(cert, key);
  app.get('/', hello); // answers HEAD too
  app.get('/json', json);
  app.listen({ host, port, backlog: 4096 });
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
else serve(host, Number(port), cert, key);
