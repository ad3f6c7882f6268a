"""A small HTTP server that satisfies the contract or, depending on the mode, breaks it in one way.

Usage: server.py HOST PORT MODE
"""

from __future__ import annotations

import itertools
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from email.utils import formatdate

GOOD_BODY = b"Hello, World!"
LOADED_AFTER = 200  # number of responses after which the server assumes that it is under load
LEFT_OF = 150  # one in 150 requests is never answered, which is within the 1% of an offered rate that may be missing
RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER with a timeout of 0: closing sends RST
IDLE_AFTER = 100  # number of responses on one connection after which the server assumes that it is under load

numbers = itertools.count(1)  # next() is atomic, so threads can share it
eaten: list[bytes] = []


def answer(mode: str, number: int) -> bytes:
    body = b"Hello, World?" if mode == "wrong-body" else GOOD_BODY
    body = b"Hello" if mode == "turns-shorter" and number > LOADED_AFTER else body
    length = {"length-too-large": len(body) + 1, "length-too-small": len(body) - 1}.get(mode, len(body))
    status = "500 Internal Server Error" if mode == "turns-500" and number > LOADED_AFTER else "200 OK"
    date = "Thu, 01 Jan 1970 00:00:00 GMT" if mode == "date-stands" else formatdate(usegmt=True)
    head = f"HTTP/1.1 {status}\r\nServer: misbehaving\r\nDate: {date}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n"
    return head.encode() + body


def misbehave_under_load(mode: str, number: int) -> None:
    if mode == "answers-late":
        time.sleep(0.1)
    if number <= LOADED_AFTER:
        return
    if mode == "dies":
        print("about to die: the disk is on fire", file=sys.stderr, flush=True)
        os._exit(3)
    if mode == "kills-its-guard":
        os.kill(os.getppid(), signal.SIGKILL)
    if mode == "slows-and-dies":
        time.sleep(0.02)
        if number > 2 * LOADED_AFTER:
            os._exit(3)
    if mode == "eats-memory":
        while True:
            eaten.append(b"x" * (16 << 20))
    if mode == "hangs" or (mode == "loses-one" and number == LOADED_AFTER + 1):
        time.sleep(3600)
    if mode == "leaves-some" and number % LEFT_OF == 0:
        time.sleep(3600)


def write_without_end() -> None:
    while True:
        os.write(2, b"x" * 99_999 + b"\n")
        time.sleep(0.001)


def body_length(head: bytes, after: bytes) -> int | None:
    """Return the size of the body on the wire, or ``None`` if it isn't known yet. A chunked body must be a single chunk."""
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    if fields.get(b"transfer-encoding") == b"chunked":
        size, end, _ = after.partition(b"\r\n")
        return len(size) + int(size, 16) + len(b"\r\n\r\n0\r\n\r\n") if end else None
    return int(fields.get(b"content-length", b"0"))


def serve(connection: socket.socket, mode: str) -> None:
    pending = b""
    answered = 0
    with connection:
        while data := connection.recv(65_536):
            pending += data
            while b"\r\n\r\n" in pending:
                head, rest = pending.split(b"\r\n\r\n", 1)
                length = 0 if mode == "takes-bodies" else body_length(head, rest)
                if length is None or len(rest) < length:
                    break
                pending = rest[length:]
                number = next(numbers)
                misbehave_under_load(mode, number)
                path = head.split(b" ", 2)[1]
                reply = answer(mode, number) if path == b"/" else b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
                if head.startswith(b"HEAD "):
                    reply = reply.split(b"\r\n\r\n")[0] + b"\r\n\r\n"
                connection.sendall(reply)
                answered += 1
                if mode == "resets" and number > LOADED_AFTER and answered > 10:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                    return
                if mode == "idles" and answered == IDLE_AFTER:
                    time.sleep(3600)
                if b"connection: close" in head.lower():
                    return


def leave(mode: str) -> None:
    """Continue as a daemon, which is no longer a child of the harness."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if mode == "double-fork" and os.fork():
        os._exit(0)


def lend(listener: socket.socket, port: int) -> socket.socket:
    """Pass a copy of the listening socket to a test. The returned connection tells the test when this process ends."""
    test = socket.socket(socket.AF_UNIX)
    test.connect(f"\0httpbench-test-{port}")
    socket.send_fds(test, [b"."], [listener.fileno()])
    return test


def main() -> None:
    host, port, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    print(f"starting as {mode}", file=sys.stderr, flush=True)
    if mode == "exits":
        sys.exit("cannot read my configuration")
    if mode == "never-listens":
        time.sleep(3600)
    if mode == "ignores-sigterm":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if mode == "leaves-children":
        subprocess.Popen(["sleep", "3600"], start_new_session=True)
    if mode == "dies-at-stop":
        signal.signal(signal.SIGTERM, lambda *_: os.abort())
    if mode in ("setsid", "double-fork"):
        leave(mode)
        time.sleep(0.3)  # like a server that reads its configuration
    if mode == "binds-late":
        time.sleep(1)
    if mode == "logs":
        threading.Thread(target=write_without_end, daemon=True).start()
    if mode == "exits-well":
        sys.exit(0)
    if mode == "wrong-address":
        host = "::1"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=1024)
    if mode == "lends-its-port":
        lent = lend(listener, port)  # noqa: F841 - the reference keeps the connection open
    while True:
        connection, _ = listener.accept()
        if mode == "never-answers":
            continue
        threading.Thread(target=serve, args=(connection, mode), daemon=True).start()


if __name__ == "__main__":
    main()
