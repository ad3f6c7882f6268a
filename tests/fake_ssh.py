"""An ssh whose other host is this machine: it runs the command in a shell. For tests of what goes over a connection."""

from __future__ import annotations

from pathlib import Path

from tests.programs import program

RUNS_HERE = """
case " $* " in *" -G "*) echo "hostname {address}"; exit 0;; esac
for last; do :; done
exec bash -c "$last"
"""


def fake_ssh(folder: Path, address: str = "127.0.0.1") -> str:
    """The command, for ``HTTPBENCH_SSH``. ``address``: of the host, as the user's configuration would have it."""
    return program(folder, "ssh", RUNS_HERE.format(address=address))


def refusing_ssh(folder: Path, message: str) -> str:
    """An ssh that cannot connect, and says why."""
    return program(folder, "ssh", f"echo '{message}' >&2; exit 255")
