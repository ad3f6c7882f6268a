"""A minimal HTTP/1.1 server with one thread per connection.

Usage: python3 server.py HOST PORT
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = b"Hello, World!"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "NAME"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.respond(BODY)

    def do_HEAD(self) -> None:
        self.respond(b"")

    def respond(self, body: bytes) -> None:
        found = self.path == "/"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(BODY) if found else 0))
        # This server closes the connection instead of reading the body of a request.
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body if found else b"")

    def log_message(self, *args: object) -> None:
        pass


ThreadingHTTPServer.request_queue_size = 4096
ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
