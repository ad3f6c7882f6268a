"""One checked fact about this machine, and whether it disturbs a measurement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["ok", "note", "warning"]
WORST_FIRST: tuple[Severity, ...] = ("warning", "note", "ok")


@dataclass(frozen=True, slots=True)
class Finding:
    """A checked fact. ``ok``: harmless. ``note``: changes the results of all targets alike. ``warning``: makes results noisy or wrong."""

    name: str
    severity: Severity
    what: str
    """The observed state."""
    why: str
    """The effect on a measurement."""
    do: str | None = None
    """The fix, as a command or a sentence, or ``None`` if there is nothing to do."""


def judged(name: str, is_fine: bool, what: str, why: str, do: str, otherwise: Severity = "warning") -> Finding:
    """Return a finding. If ``is_fine``, it is ``ok`` and has no fix. If not, its severity is ``otherwise`` and its fix is ``do``."""
    return Finding(name, "ok", what, why) if is_fine else Finding(name, otherwise, what, why, do)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by severity."""
    return sorted(findings, key=lambda finding: WORST_FIRST.index(finding.severity))
