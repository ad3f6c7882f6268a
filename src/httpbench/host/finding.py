"""One thing about this machine that disturbs a measurement, or that was looked at and does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["ok", "note", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``ok``: does not disturb. ``note``: changes figures for all alike, so say it beside them. ``warning``: makes them noisy or wrong."""

    name: str
    severity: Severity
    what: str
    """What was found."""
    why: str
    """What it does to a measurement."""
    do: str | None = None
    """A command or a sentence; ``None`` where nothing needs to be done."""


def judged(name: str, is_fine: bool, what: str, why: str, do: str, otherwise: Severity = "warning") -> Finding:
    """``ok``, with nothing to be done, or what it is otherwise."""
    return Finding(name, "ok", what, why) if is_fine else Finding(name, otherwise, what, why, do)
