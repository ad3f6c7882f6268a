"""Whether others disturbed a trial: other programs, other virtual machines, or a wait for a CPU that they held.

Judged by what others did and never by the result, so leaving a disturbed trial out cannot favour a figure.
"""

from __future__ import annotations

from collections.abc import Iterator

from httpbench.model import Trial
from httpbench.stats.evidence import Evidence, cores_text, evidence_of, generator_capacity, others_cores

OTHERS_SHARE_MAX = 0.10
"""Of the measured cores, for other programs. Kernel threads and, where no core is left for it, the harness itself take less."""

STOLEN_SHARE_MAX = 0.05
"""Of the measured cores, for other virtual machines."""

WAIT_SHARE_MAX = 0.10
"""Of the cores that the load generator can fill: time in which it was ready to run and had no CPU."""


def disturbance(trial: Trial) -> str | None:
    """Who disturbed a trial and how much, in words; ``None``: nobody, or it was not watched."""
    evidence = evidence_of(trial)
    if evidence is None:
        return None
    return "; ".join([*_others(evidence), *_stolen(evidence), *_wait(evidence)]) or None


def _others(evidence: Evidence) -> Iterator[str]:
    target, generator, count = evidence.target_usage, evidence.generator_usage, len(evidence.occupancy)
    if target is None or generator is None or count == 0:
        return
    others = others_cores(evidence, target, generator)
    if others >= OTHERS_SHARE_MAX * count:
        yield f"other programs took {others:.2f} of the {count} measured {cores_text(count)}"


def _stolen(evidence: Evidence) -> Iterator[str]:
    count = len(evidence.occupancy)
    stolen = sum(core.stolen for core in evidence.occupancy)
    if count and stolen >= STOLEN_SHARE_MAX * count:
        yield f"other virtual machines took {stolen:.2f} of the {count} measured {cores_text(count)}"


def _wait(evidence: Evidence) -> Iterator[str]:
    """On shared cores the target makes the generator wait, and the target is no stranger."""
    usage = evidence.generator_usage
    if usage is None or usage.cpu_wait_cores_mean is None or evidence.cores.shared or evidence.cores.backend_shared:
        return
    waited, capacity = usage.cpu_wait_cores_mean, generator_capacity(evidence)
    if waited >= WAIT_SHARE_MAX * capacity:
        yield f"the load generator waited for a CPU {waited / capacity:.0%} of the time"
