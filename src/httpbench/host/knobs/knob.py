"""The definition of a knob: a few files below /proc or /sys, with their current and wanted contents.

This module only reads the files; :mod:`httpbench.host.knobs.tuning` changes and restores them. All changes last until the next boot. Two
kinds of settings aren't knobs: settings that change the results themselves, not just their noise, and settings that only the machine's
owner should change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from httpbench.host.finding import Finding, Severity, judged
from httpbench.host.kernel_files import read_text


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
        """Usual name of the setting, such as ``net.core.somaxconn``, or its path."""
        return self.path.removeprefix("proc/sys/").replace("/", ".") if self.path.startswith("proc/sys/") else f"/{self.path}"


Reader = Callable[[Path], list[Setting]]
"""A function that reads settings below a root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """A kernel setting that a machine may or may not have."""

    name: str
    severity: Severity = "warning"
    """Severity of the finding if the knob isn't set as wanted."""
    settings: Reader
    """Function that returns the knob's settings on this machine, or an empty list if the machine doesn't have the knob."""
    what: Callable[[Sequence[Setting]], str]
    """Function that describes the current state."""
    why: str
    """The effect on a measurement, as a clause."""
    source: str
    """Part of the kernel's documentation that describes the knob."""
    has_no_better: Callable[[Sequence[Setting]], bool] = lambda _: False
    """Function that returns true if even the best setting that this machine offers disturbs measurements."""

    def finding(self, root: Path) -> Finding | None:
        found = self.settings(root)
        if not found:
            return None
        if self.has_no_better(found):
            return Finding(self.name, "note", self.what(found), self.why, "nothing: this machine offers no better setting")
        do = f"httpbench tune apply {self.name}, as root; httpbench tune reset undoes it"
        return judged(self.name, all(setting.is_fine for setting in found), self.what(found), self.why, do, self.severity)


def read_value(path: Path) -> str | None:
    """Return the current value of a file, in a form that restores the value when written back.

    If the file lists all choices, as in ``always [madvise] never``, the value is the word in brackets. Otherwise, it is the whole content
    with single spaces.
    """
    words = (read_text(path) or "").split()
    chosen = next((word[1:-1] for word in words if word.startswith("[") and word.endswith("]")), None)
    return chosen or " ".join(words) or None


def files(wanted: Callable[[str, Path], str | None], *patterns: str) -> Reader:
    """Return a reader of the files that match the patterns, which are relative to the root.

    ``wanted`` returns the wanted content of a file, given its current content and its path, or ``None`` to skip the file.
    """

    def read(root: Path) -> list[Setting]:
        return [
            Setting(str(path.relative_to(root)), now, value)
            for pattern in patterns
            for path in sorted(root.glob(pattern))
            if (now := read_value(path)) is not None and (value := wanted(now, path)) is not None
        ]

    return read


def exactly(wanted: str, *patterns: str) -> Reader:
    """Return a reader of files that should contain ``wanted``."""
    return files(lambda _now, _path: wanted, *patterns)


def at_least(enough: int, wanted: int, *patterns: str) -> Reader:
    """Return a reader of files that should contain ``wanted``, unless their value is at least ``enough``."""
    return files(lambda now, _path: (now if int(now) >= enough else str(wanted)) if now.isdecimal() else None, *patterns)
