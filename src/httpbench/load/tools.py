"""The base class of load generators and timers. It finds a program and its version, and provides instructions to install the program."""

from __future__ import annotations

import copy
import re
import shutil
from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from httpbench.errors import LoadError
from httpbench.host import capture
from httpbench.model import Requirement
from httpbench.paths import user_folder


@dataclass(frozen=True, slots=True)
class Installation:
    """Instructions to install a program into the user's cache, without root."""

    argv: tuple[str, ...]
    """The installation command."""
    requires: Requirement
    """The program, such as ``npm``, that the installation command runs."""
    folder: Path
    """The folder into which the command installs the program."""
    files: tuple[Path, ...] = ()
    """Files to copy into ``folder`` before the command runs."""


@dataclass(frozen=True, slots=True)
class Found:
    """A program on another host."""

    path: str
    version: str


Run = Callable[[tuple[str, ...]], str]
"""A function that runs a short command and returns its output on both streams."""


class Tool(ABC):
    """A program that sends load to a target, or that times a client."""

    name: str
    requirement: Requirement
    """The program that must be installed."""
    version_option = "--version"
    there: Found | None = None
    """The program on the load host, or ``None`` if it runs on this machine."""
    built_at: str | None = None
    """Path at which ``httpbench setup`` installs the program, relative to ``folder``, or ``None`` if the program isn't installed there."""

    def at(self, found: Found) -> Self:
        """Return a copy of this tool that runs the program ``found`` on a load host."""
        other = copy.copy(self)
        other.there = found
        return other

    def locate(self) -> str | None:
        """Return the absolute path of the program, or ``None`` if it isn't installed."""
        if found := shutil.which(self.requirement.program or self.name):
            return str(Path(found).absolute())
        own = self.folder / self.built_at if self.built_at else None
        return str(own) if own and own.is_file() else None

    @property
    def folder(self) -> Path:
        """The folder into which ``httpbench setup`` installs the program."""
        return user_folder("XDG_CACHE_HOME", ".cache") / "load-generators" / self.name

    def installation(self) -> Installation | None:
        """Return instructions to install the program into ``folder``, or ``None`` if it must be installed in another way."""
        return None

    def program(self) -> str:
        """Return the program's path, on the load host if there is one. Raises ``LoadError`` with a hint if the program is missing."""
        path = self.there.path if self.there else self.locate()
        if path is None:
            raise LoadError(f"load generator {self.name} is not installed", hint=f"httpbench setup --load-generator {self.name}")
        return path

    def version(self) -> str:
        """Return the version as dotted numbers, or ``unknown`` if the program prints none. Raises ``LoadError`` if it isn't installed."""
        return self.there.version if self.there else self.version_of(self.program(), printed)

    def version_of(self, program: str, run: Run) -> str:
        """Return the version of the program at a path. ``run`` executes a command on the host that has the program."""
        return first_version(run((program, self.version_option)))


def printed(argv: tuple[str, ...]) -> str:
    """Return the output of a short command on both streams, or an empty string if the command can't start or doesn't end.

    The exit code doesn't matter, because wrk fails after printing its version.
    """
    done = capture(argv)
    return done.stdout + done.stderr if done else ""


def first_version(text: str) -> str:
    """Return the first dotted number of a text, or ``unknown`` if there is none."""
    match = re.search(r"(?<!\d)\d+(\.\d+)+", text)
    return match.group() if match else "unknown"
