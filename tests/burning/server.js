// A server whose function burn uses a set share of the server's CPU time: server.js PORT SHARE.
"use strict";
const net = require("node:net");

const [port, share] = process.argv.slice(2).map(Number);
const RESPONSE = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
let burned = 0;
let sink = 1;

function cpu() {
  const used = process.cpuUsage();
  return used.user + used.system;
}

function burn() {
  let number = sink;
  for (let i = 20000 + (sink % 40000); i > 0; i--) number = (Math.imul(number, 1664525) + 1013904223) | 0;
  sink = number >>> 4;
}

// Burn until the share is right. The kernel's clock is read outside of burn.
function pace() {
  let begin = cpu();
  while (burned < share * begin) {
    burn();
    const end = cpu();
    burned += end - begin;
    begin = end;
  }
}

net
  .createServer((client) => {
    client.setNoDelay(true);
    client.on("error", () => {});
    client.on("data", (data) => {
      for (let count = data.toString("latin1").split("\r\n\r\n").length; count > 1; count--) {
        pace();
        client.write(RESPONSE);
      }
    });
  })
  .listen(port, "127.0.0.1");
