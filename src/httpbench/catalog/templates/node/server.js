// A minimal HTTP/1.1 server. Usage: node server.js HOST PORT
'use strict';

const http = require('node:http');

const BODY = 'Hello, World!';

const server = http.createServer((request, response) => {
  const found = request.url === '/';
  const body = found ? BODY : '';
  response.writeHead(found ? 200 : 404, { Server: 'NAME', 'Content-Type': 'text/plain', 'Content-Length': body.length });
  response.end(body); // Node.js sends no body in response to HEAD
});

const [host, port] = process.argv.slice(2);
server.listen({ host, port: Number(port), backlog: 4096 });
