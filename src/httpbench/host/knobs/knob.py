"""The definition of a knob: a few files below /proc or /sys, with their current and wanted contents.

Nothing here writes. :mod:`httpbench.host.knobs.tuning` does, and it can restore everything. All knobs last until the next boot. A setting
that changes the results rather than their noise, or that only the machine's owner should decide, isn't a knob.
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
    """One file with its current and wanted contents."""

    path: str
    """Path relative to the root."""
    now: str
    wanted: str

    @property
    def is_fine(self) -> bool:
        return self.now == self.wanted

    @property
    def label(self) -> str:
        """The usual name, such as ``net.core.somaxconn``, or the path."""
        return self.path.removeprefix("proc/sys/").replace("/", ".") if self.path.startswith("proc/sys/") else f"/{self.path}"


class Knob(ABC):
    """A kernel setting, which this machine may lack."""

    name: ClassVar[str]
    severity: ClassVar[Severity] = "warning"
    """Severity of the finding if the knob isn't set as wanted."""
    why: ClassVar[str]
    """The effect on a measurement, as a clause."""
    source: ClassVar[str]
    """Where the kernel's documentation describes it."""

    @abstractmethod
    def settings(self, root: Path) -> Sequence[Setting]:
        """Return its settings on this machine. Empty if the machine doesn't have the knob."""

    @abstractmethod
    def what(self, settings: Sequence[Setting]) -> str:
        """Describe the current state."""

    def finding(self, root: Path) -> Finding | None:
        found = self.settings(root)
        if not found:
            return None
        do = f"httpbench tune apply {self.name}, as root; httpbench tune reset undoes it"
        return judged(self.name, all(setting.is_fine for setting in found), self.what(found), self.why, do, self.severity)


def read_value(path: Path) -> str | None:
    """Return the text that restores a file: the bracketed word of ``always [madvise] never``, or the content with single spaces."""
    text = read_text(path)
    if text is None:
        return None
    words = text.split()
    chosen = next((word for word in words if word.startswith("[") and word.endswith("]")), None)
    return chosen[1:-1] if chosen else " ".join(words)


def exactly(root: Path, path: Path, wanted: str) -> Sequence[Setting]:
    """Return the setting of a file that should contain ``wanted``. Empty if there is no such file."""
    now = read_value(path)
    return [] if now is None else [Setting(str(path.relative_to(root)), now, wanted)]


def at_least(root: Path, path: Path, *, enough: int, wanted: int) -> Sequence[Setting]:
    """Return the setting of a file that should contain ``wanted``, unless its value is at least ``enough``."""
    now = read_int(path)
    return [] if now is None else exactly(root, path, str(now if now >= enough else wanted))


def labels(settings: Sequence[Setting]) -> str:
    return ", ".join(setting.label for setting in settings)
