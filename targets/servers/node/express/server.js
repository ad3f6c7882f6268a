// Express in production mode. With more than one worker, cluster starts the workers and distributes the connections among them.
// Usage: node server.js HOST PORT WORKERS
'use strict';

const cluster = require('node:cluster');
const express = require('express');

function hello(request, response) {
  response.set('Server', 'express').type('text/plain').send('Hello, World!');
}

function json(request, response) {
  response.set('Server', 'express').json({ message: 'Hello, World!' });
}

function serve(host, port) {
  const app = express();
  app.get('/', hello); // answers HEAD too
  app.get('/json', json);
  app.listen(port, host, 4096);
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
