"""Facts about groups of trials: the facts behind their verdicts, the disturbed trials, and the memory metric that all rows have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from httpbench.analysis.rows import Group, Row
from httpbench.model import Trial, VerdictKind
from httpbench.stats.facts import Facts, facts


@dataclass(frozen=True, slots=True)
class TrialFacts:
    """A measured trial with the facts behind its verdict."""

    trial: Trial
    facts: Facts


def known(rows: Iterable[Row]) -> list[TrialFacts]:
    """Return the facts of every attempt that was measured."""
    return [TrialFacts(trial, found) for row in rows for trial in row.attempts if (found := facts(trial))]


@dataclass(frozen=True, slots=True)
class Disturbances:
    """The disturbed trials of some rows."""

    repeated: tuple[Trial, ...]
    """Disturbed trials that were repeated."""
    lost: tuple[Trial, ...]
    """Last attempts that don't count because they were disturbed."""
    accepted: tuple[Trial, ...]
    """Last attempts that count although they were disturbed, because the run had no retries."""


def disturbances(rows: Sequence[Row]) -> Disturbances:
    """Group the disturbed trials by how the run handled them."""
    last = [trial for row in rows for trial in row.trials if trial.verdict.kind is VerdictKind.DISTURBED]
    return Disturbances(
        repeated=tuple(trial for row in rows for trial in row.repeated),
        lost=tuple(trial for trial in last if not trial.verdict.counts),
        accepted=tuple(trial for trial in last if trial.verdict.counts),
    )


def memory_is_proportional(found: Sequence[Group]) -> bool:
    """Return whether a column can show the proportional set size, because every row with a memory value also has this metric."""
    rows = [row for group in found for row in group.rows if row.summary.rss_bytes_peak is not None]
    return all(row.summary.pss_bytes_peak is not None for row in rows)
