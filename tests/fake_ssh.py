"""Fake ssh commands: one runs each command in a shell on this machine, the other can't connect."""

from __future__ import annotations

from pathlib import Path

from tests.programs import program

RUNS_HERE = """
case " $* " in *" -G "*) echo "hostname {address}"; exit 0;; esac
for last; do :; done
exec bash -c "$last"
"""


def fake_ssh(folder: Path, address: str = "127.0.0.1") -> str:
    """Return an ssh command that runs commands on this machine. ``address`` is the host's address in the user's ssh configuration."""
    return program(folder, "ssh", RUNS_HERE.format(address=address))


def refusing_ssh(folder: Path, message: str) -> str:
    """Return an ssh command that can't connect and prints this message."""
    return program(folder, "ssh", f"echo '{message}' >&2; exit 255")
