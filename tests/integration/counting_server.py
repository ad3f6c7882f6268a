"""A server that writes the time to a file every millisecond unless it is frozen. Usage: ``counting_server.py PORT FILE``."""

from __future__ import annotations

import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", "13")
        self.end_headers()
        self.wfile.write(b"Hello, World!")

    def log_message(self, *args: object) -> None:
        pass


def count(path: Path) -> None:
    with path.open("w", buffering=1) as file:
        while True:
            file.write(f"{time.monotonic()}\n")
            time.sleep(0.001)


if __name__ == "__main__":
    threading.Thread(target=count, args=(Path(sys.argv[2]),), daemon=True).start()
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
