"""A server for ``/json`` and ``/db`` that responds correctly until it is under load. Usage: ``python lying_server.py PORT LIE``."""

from __future__ import annotations

import json
import random
import socketserver
import sys
import time

HONEST_REQUESTS = 40
"""Number of requests that the server answers honestly. The harness sends more requests only when it applies a load."""
LIES = {"honest": None, "wrong": {"id": 0}, "same": {"id": 7, "randomNumber": 7}}


class Handler(socketserver.StreamRequestHandler):
    requests = 0

    def handle(self) -> None:
        while line := self.rfile.readline():
            while self.rfile.readline().strip():
                pass
            Handler.requests += 1
            self.wfile.write(response(self.body(line.split()[1])))

    def body(self, path: bytes) -> bytes:
        lie = LIES[sys.argv[2]]
        if not path.startswith(b"/db"):
            return b'{"message":"Hello, World!"}'
        if lie is not None and Handler.requests > HONEST_REQUESTS:
            return json.dumps(lie).encode()
        return json.dumps({"id": random.randint(1, 10_000), "randomNumber": random.randint(1, 10_000)}).encode()

    def finish(self) -> None:
        pass  # a reset by the client isn't an error


def response(body: bytes) -> bytes:
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())
    head = f"HTTP/1.1 200 OK\r\nServer: x\r\nDate: {date}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        pass


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
