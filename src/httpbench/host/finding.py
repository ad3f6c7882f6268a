"""One thing about this machine that was checked, and whether it disturbs a measurement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["ok", "note", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``ok``: does not disturb. ``note``: changes figures for all targets alike. ``warning``: makes figures noisy or wrong."""

    name: str
    severity: Severity
    what: str
    """What was found."""
    why: str
    """What it does to a measurement."""
    do: str | None = None
    """A command or a sentence; ``None`` where there is nothing to do."""


def judged(name: str, is_fine: bool, what: str, why: str, do: str, otherwise: Severity = "warning") -> Finding:
    """``ok`` with nothing to do, or ``otherwise`` with what to do."""
    return Finding(name, "ok", what, why) if is_fine else Finding(name, otherwise, what, why, do)
