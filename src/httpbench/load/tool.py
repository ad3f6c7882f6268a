"""What load generators and timers have in common: a program that may be installed, and its version."""

from __future__ import annotations

import copy
import re
import shutil
import subprocess
from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from httpbench.errors import LoadError
from httpbench.model import Requirement


@dataclass(frozen=True, slots=True)
class Installation:
    """How to install a program into the user's cache, without root."""

    argv: tuple[str, ...]
    """The command."""
    requires: Requirement
    """The program that the command begins with."""
    folder: Path
    """Where it installs."""
    files: tuple[Path, ...] = ()
    """Copied into ``folder`` before the command runs."""


@dataclass(frozen=True, slots=True)
class Found:
    """A program at another host."""

    path: str
    version: str


Run = Callable[[tuple[str, ...]], str]
"""Runs a short command; what it prints on both streams."""


class Tool(ABC):
    """A program that puts a load on a target, or times one."""

    name: str
    requirement: Requirement
    """What it requires on the machine."""
    there: Found | None = None
    """The program at the load host; ``None``: it runs on this machine."""

    def at(self, found: Found) -> Self:
        """Return the same tool, as it is at a load host."""
        other = copy.copy(self)
        other.there = found
        return other

    def locate(self) -> str | None:
        """Absolute path of the program; ``None`` if it is not installed."""
        found = shutil.which(self.requirement.program or self.name)
        return str(Path(found).absolute()) if found else None

    def installation(self) -> Installation | None:
        """How to install it where ``locate`` finds it, if no package has it. ``None``: there is no such way."""
        return None

    def program(self) -> str:
        """Like ``locate``, at the load host if there is one. Raises ``LoadError``, with the command that installs it, if it is missing."""
        path = self.there.path if self.there else self.locate()
        if path is None:
            raise LoadError(f"load generator {self.name} is not installed", hint=f"httpbench setup --load-generator {self.name}")
        return path

    def version(self) -> str:
        """Return the version as dotted numbers; ``unknown`` if the program prints none. Raises ``LoadError`` if it is missing."""
        return self.there.version if self.there else self.version_of(self.program(), printed)

    def version_of(self, program: str, run: Run) -> str:
        """Return the version of the program at a path, with ``run`` where that path is."""
        return first_version(run((program, "--version")))


def printed(argv: tuple[str, ...]) -> str:
    """What a short command prints on both streams; nothing if there is no such program.

    The exit code does not matter: wrk prints its version and fails.
    """
    try:
        done = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=10, check=False, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        return ""
    return done.stdout + done.stderr


def first_version(text: str) -> str:
    """Return the first dotted number of a text; ``unknown`` if there is none."""
    match = re.search(r"\d+(\.\d+)+", text)
    return match.group() if match else "unknown"
