"""What load generators and timers have in common: a program that may be installed, and its version."""

from __future__ import annotations

import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

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


class Tool(ABC):
    """A program that puts a load on a target, or times one."""

    name: str
    requirement: Requirement
    """What it requires on the machine."""

    def locate(self) -> str | None:
        """Absolute path of the program; ``None`` if it is not installed."""
        found = shutil.which(self.requirement.program or self.name)
        return str(Path(found).absolute()) if found else None

    def installation(self) -> Installation | None:
        """How to install it where ``locate`` finds it, if no package has it. ``None``: there is no such way."""
        return None

    def program(self) -> str:
        """Like ``locate``. Raises ``LoadError``, with the command that installs it, if it is missing."""
        path = self.locate()
        if path is None:
            raise LoadError(f"load generator {self.name} is not installed", hint=f"httpbench setup --load-generator {self.name}")
        return path

    @abstractmethod
    def version(self) -> str:
        """The version as dotted numbers; ``unknown`` if the program prints none. Raises ``LoadError`` if it is missing."""


def first_version(argv: tuple[str, ...]) -> str:
    """The first dotted number that a command prints on either stream; ``unknown`` if there is none.

    The exit code does not matter: wrk prints its version and fails.
    """
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=10, check=False, stdin=subprocess.DEVNULL)
    match = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return match.group() if match else "unknown"
