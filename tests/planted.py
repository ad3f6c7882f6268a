"""Git repositories with a server whose cost per request differs between commits."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

SERVER = Path(__file__).parents[1] / "benchmarks" / "interleaving" / "server.c"
BUILD = "cc -O2 -o server server.c"
COMMAND = "./run {host} {port}"


def git(folder: Path, *words: str) -> str:
    """Run a git command and return its output."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.test")
    return subprocess.run(("git", "-C", str(folder), *identity, *words), check=True, capture_output=True, text=True).stdout.strip()


def plant(folder: Path, steps: Sequence[int | None]) -> list[str]:
    """Create a repository with a commit for each number of loop steps per request, and return the ids of the commits, oldest first.

    ``None`` stands for a commit that doesn't build.
    """
    git(folder, "init", "--quiet")
    found = []
    for number, cost in enumerate(steps):
        shutil.copy(SERVER, folder / "server.c")
        if cost is None:
            (folder / "server.c").write_text("int main(void) { return\n")
        else:
            (folder / "run").write_text(f'#!/bin/sh\n# change {number}\nexec ./server "$1" "$2" {cost} 0\n')
            (folder / "run").chmod(0o755)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", f"Change {number}")
        found.append(git(folder, "rev-parse", "HEAD"))
    return found
