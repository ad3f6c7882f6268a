"""An HTTP server that sends and logs control sequences for terminals, Markdown and CI logs.

Usage: server.py PORT MODE

Modes:
    valid: response heads are valid HTTP
    wrong: heads are valid, but bodies are wrong under load
    controls: heads contain control characters
"""

from __future__ import annotations

import os
import socketserver
import sys

HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\u2066|`<script>[red]::error::owned ##[error]owned"
LINES = f"{HOSTILE}\n::error::owned\n  ::stop-commands::owned\n\rforged"
LOADED_AFTER = 50


class Handler(socketserver.StreamRequestHandler):
    responses = 0

    def handle(self) -> None:
        while head := self.rfile.readline():
            while self.rfile.readline() not in (b"\r\n", b""):
                pass
            if head.startswith(b"GET /"):
                self.respond()

    def respond(self) -> None:
        Handler.responses += 1
        mode = sys.argv[2]
        wrong = mode == "wrong" and Handler.responses > LOADED_AFTER
        body = (LINES[::-1] if wrong else LINES).encode()
        os.write(2, f"{LINES}\n".encode() + b"\xff\x9b\n")
        text = HOSTILE if mode == "controls" else "".join(character for character in HOSTILE if character >= " ")
        head = f"HTTP/1.1 200 {text}\r\nServer: {text}\r\nContent-Type: text/plain{text}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.wfile.write(head.encode() + body)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    with Server(("127.0.0.1", int(sys.argv[1])), Handler) as server:
        server.serve_forever()
