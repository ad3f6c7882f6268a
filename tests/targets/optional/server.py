"""A server that serves HTTPS only if its build has the feature tls, and plain HTTP only if it doesn't.

Usage: server.py PORT [CERT KEY]
"""

from __future__ import annotations

import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BODY = b"Hello, World!"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128


def main(port: str, *certificate: str) -> None:
    features = Path("features").read_text()
    if features != ("tls" if certificate else ""):
        sys.exit(f"this build has the features {features!r}, and the trial needs others")
    server = Server(("127.0.0.1", int(port)), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


main(*sys.argv[1:])
