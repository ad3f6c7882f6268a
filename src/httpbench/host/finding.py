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


MOST_HARMFUL = ("busy-processes", "load-average", "cpu-quota", "steal", "memory-limit", "swap", "siblings", "cores")
"""Findings that disturb a measurement most, the worst first. All other warnings follow in the order in which they were found."""


def most_harmful(findings: Iterable[Finding], count: int) -> list[Finding]:
    """Return the ``count`` warnings that disturb a measurement most. Busy processes explain the load average, so only they are included."""
    warnings = [finding for finding in findings if finding.severity == "warning"]
    if any(finding.name == "busy-processes" for finding in warnings):
        warnings = [finding for finding in warnings if finding.name != "load-average"]
    ranks = {name: rank for rank, name in enumerate(MOST_HARMFUL)}
    return sorted(warnings, key=lambda finding: ranks.get(finding.name, len(ranks)))[:count]
