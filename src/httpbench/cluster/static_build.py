"""Our load generator as one file without shared libraries, which runs on any Linux of its architecture."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from httpbench.errors import UsageError
from httpbench.load.native import PROGRAM
from httpbench.paths import root
from httpbench.text import listed

MACHINES = ("x86_64", "aarch64")
BUILD_LIMIT_S = 1200.0


def portable(program: Path, machine: str, say: Callable[[str], None]) -> Path:
    """What to copy to a host of that architecture: in a checkout built now, in an installed package the file that came with it.

    If there is neither, ``program`` itself, which requires the C library of this machine. ``say`` is called before a long build. Raises
    :class:`UsageError` if there is nothing for that architecture.
    """
    if machine not in MACHINES:
        raise UsageError(f"{PROGRAM} runs on {listed(MACHINES)}, not on {machine}", hint="name another load host")
    found = _built(program, machine, say) or _installed(program, machine)
    if found is not None:
        return found
    if machine == platform.machine():
        return program
    raise UsageError(f"{PROGRAM} is not built for {machine} here", hint=f"build it there, and put it into PATH: {_there()}")


def _built(program: Path, machine: str, say: Callable[[str], None]) -> Path | None:
    """As cargo builds it in the checkout that ``program`` belongs to; ``None`` if it cannot. A build that is up to date takes no time."""
    if program.parent.name != "release" or not (checkout := program.parents[2]).joinpath("Cargo.toml").is_file():
        return None
    triple = f"{machine}-unknown-linux-gnu"
    target = program.parents[1]
    found = target / triple / "release" / PROGRAM
    if shutil.which("cargo") is not None:
        if not found.is_file():
            say(f"building {PROGRAM} for load hosts, once: this takes a minute or two")
        argv = ("cargo", "static", "--quiet", "--target", triple, "--target-dir", str(target))
        done = subprocess.run(argv, cwd=checkout, capture_output=True, stdin=subprocess.DEVNULL, timeout=BUILD_LIMIT_S, check=False)
        if done.returncode and machine == platform.machine():
            return None  # what an earlier build left is of another source
    return found if found.is_file() else None


def _installed(program: Path, machine: str) -> Path | None:
    """As it came in the wheel that ``program`` came in."""
    found = root() / "programs" / f"{PROGRAM}-{machine}"
    return found if program.parent == Path(sys.executable).parent and found.is_file() else None


def _there() -> str:
    return f"cargo build --release --locked --package {PROGRAM}"
