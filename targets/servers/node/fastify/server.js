// Fastify without its logger. With more than one worker, cluster starts the workers and distributes the connections among them.
// Usage: node server.js HOST PORT WORKERS
'use strict';

const cluster = require('node:cluster');
const fastify = require('fastify');

async function hello(request, reply) {
  reply.header('Server', 'fastify').type('text/plain');
  return 'Hello, World!';
}

async function json(request, reply) {
  reply.header('Server', 'fastify');
  return { message: 'Hello, World!' };
}

function serve(host, port) {
  const app = fastify();
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

const [host, port, workers] = process.argv.slice(2);
if (cluster.isPrimary && Number(workers) > 1) startWorkers(Number(workers));
else serve(host, Number(port));
