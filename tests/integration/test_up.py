"""Tests of ``httpbench up``, which runs one target until the user ends it, with and without a real terminal."""

from __future__ import annotations

import os
import pty
import re
import signal
import time
import urllib.request
from pathlib import Path

import psutil

from tests.harness import PYTHON, Harness
from tests.waiting import gone, until

SERVER = f"{PYTHON} -m http.server --bind 127.0.0.1 {{port}}"
DIES = """
import http.server, os, sys, threading
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler)

class Handler(http.server.SimpleHTTPRequestHandler):
    def finish(self):
        super().finish()
        threading.Timer(1, lambda: os._exit(7)).start()
server.RequestHandlerClass = Handler
server.serve_forever()
"""


def test_ctrl_c_in_a_terminal_leaves_nothing_behind(tmp_path: Path) -> None:
    """The live line shows CPU and memory. The URL goes to standard output, where scripts can read it."""
    ours, theirs = pty.openpty()
    with Harness(tmp_path).start("up", SERVER, stdin=theirs, stderr=theirs, start_new_session=True) as process:
        os.close(theirs)
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert urllib.request.urlopen(url, timeout=10).status == 200
        screen = _read_until(ours, r"\d+% CPU, \d+ MB")
        children = [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
        process.send_signal(signal.SIGINT)
        assert "Ctrl-C stops it" in screen
        assert "stopped" in _read_until(ours, "stopped")
        assert process.wait(timeout=30) == 0
    os.close(ours)
    assert children
    until(lambda: gone(children))


def test_sigterm_without_a_terminal_stops_the_target(tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    with harness.start("up", SERVER) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        process.terminate()
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "stopped" in errors


def test_a_target_that_ends_by_itself_is_an_error(tmp_path: Path) -> None:
    script = tmp_path / "dies.py"
    script.write_text(DIES)
    done = Harness(tmp_path).run("up", "--cwd", str(tmp_path), f"{PYTHON} {script} {{port}}")
    assert done.returncode == 1, done.stderr
    assert re.search(r"error: .* exited on its own \(.*7.*\)", done.stderr), done.stderr
    assert "Traceback" not in done.stderr


def test_up_refuses_clients_urls_and_several_targets(tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    client = harness.run("up", "client:c/curl")
    assert (client.returncode, "is a client" in client.stderr) == (2, True), client.stderr
    url = harness.run("up", "--url", "http://127.0.0.1:1/")
    assert (url.returncode, "already running" in url.stderr) == (2, True), url.stderr
    many = harness.run("up", "c/")
    assert (many.returncode, "up takes one server" in many.stderr) == (2, True), many.stderr


def _read_until(terminal: int, pattern: str, limit_s: float = 30) -> str:
    """Read from the terminal until the pattern matches, and return the text."""
    text, deadline = "", time.monotonic() + limit_s
    while not re.search(pattern, text):
        assert time.monotonic() < deadline, f"no {pattern!r} within {limit_s} s in {text!r}"
        text += os.read(terminal, 65_536).decode(errors="replace")
    return text
