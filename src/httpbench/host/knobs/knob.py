"""What a knob is: a few files below /proc or /sys, what they hold, and what they should hold.

Nothing here writes: :mod:`httpbench.host.knobs.tuning` does, and puts everything back. All knobs end with the next boot. What changes the
figures themselves rather than their noise, or what only a machine's owner can decide, is not a knob: docs/prepare.md gives the reasons.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from httpbench.host.finding import Finding, Severity, judged
from httpbench.host.kernel_files import read_int, read_text


@dataclass(frozen=True, slots=True)
class Setting:
    """One file, what it holds and what it should hold."""

    path: str
    """Relative to the root."""
    now: str
    wanted: str

    @property
    def is_fine(self) -> bool:
        return self.now == self.wanted

    @property
    def label(self) -> str:
        """As its users call it: ``net.core.somaxconn``, or the path."""
        return self.path.removeprefix("proc/sys/").replace("/", ".") if self.path.startswith("proc/sys/") else f"/{self.path}"


class Knob(ABC):
    """One thing that can be set, here or on other machines."""

    name: ClassVar[str]
    severity: ClassVar[Severity] = "warning"
    """Of the finding when it is not as it should be."""
    why: ClassVar[str]
    """What it does to a measurement, as a clause."""
    source: ClassVar[str]
    """Where that is documented."""

    @abstractmethod
    def settings(self, root: Path) -> Sequence[Setting]:
        """Empty where this machine does not have it."""

    @abstractmethod
    def what(self, settings: Sequence[Setting]) -> str:
        """What was found, in words."""

    def finding(self, root: Path) -> Finding | None:
        found = self.settings(root)
        if not found:
            return None
        do = f"httpbench tune apply {self.name}, as root; httpbench tune reset undoes it"
        return judged(self.name, all(setting.is_fine for setting in found), self.what(found), self.why, do, self.severity)


def read_value(path: Path) -> str | None:
    """What must be written to restore it: of ``always [madvise] never`` the word in brackets; white space becomes one space."""
    text = read_text(path)
    if text is None:
        return None
    words = text.split()
    chosen = next((word for word in words if word.startswith("[") and word.endswith("]")), None)
    return chosen[1:-1] if chosen else " ".join(words)


def exactly(root: Path, path: Path, wanted: str) -> Sequence[Setting]:
    """The setting of a file that should hold ``wanted``; empty where there is no such file."""
    now = read_value(path)
    return [] if now is None else [Setting(str(path.relative_to(root)), now, wanted)]


def at_least(root: Path, path: Path, *, enough: int, wanted: int) -> Sequence[Setting]:
    """The setting of a file that should hold ``wanted``, unless it holds at least ``enough``."""
    now = read_int(path)
    return [] if now is None else exactly(root, path, str(now if now >= enough else wanted))


def labels(settings: Sequence[Setting]) -> str:
    return ", ".join(setting.label for setting in settings)
