"""A repository with a server, and a pull request that makes it use far more memory, however busy the machine is."""

from __future__ import annotations

import subprocess
from pathlib import Path

SERVER = """
import http.server, sys

kept = bytes(range(256)) * BLOCKS

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\\n")

    def log_message(self, *words):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def plant(folder: Path) -> str:
    """Create the repository with the pull request checked out. Return the commit of its base."""
    folder.mkdir()
    _git(folder, "init", "--quiet")
    base = _commit(folder, 0)
    _commit(folder, 200_000)
    return base


def _commit(folder: Path, blocks: int) -> str:
    (folder / "source.py").write_text(SERVER.replace("BLOCKS", str(blocks)), encoding="utf-8")
    _git(folder, "add", ".")
    _git(folder, "-c", "user.name=someone", "-c", "user.email=someone@localhost", "commit", "--quiet", "--message", f"keep {blocks} blocks")
    return _git(folder, "rev-parse", "HEAD")


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True, timeout=30).stdout.strip()
