"""The composite ranking of a run that has several of TechEmpower's tests, below its tables."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from httpbench.model import Trial
from httpbench.report.words.numbers import three_digits
from httpbench.stats.attempts import last_attempts
from httpbench.stats.composite import WEIGHTS, Composite, composite
from httpbench.stats.paired import Rounds
from httpbench.stats.summary import cells

TITLE = "Composite score, with TechEmpower's weights"
COLUMNS = ("Target", "% of best", "95% interval")


def composite_of(trials: Sequence[Trial]) -> Composite | None:
    """The scores of a run; ``None`` if it has too few tests or targets."""
    figures: dict[str, dict[str, Rounds]] = {}
    for cell in cells(trials):
        plan = cell[0].plan
        if plan.workload in WEIGHTS and plan.load.rate_rps is None and (rounds := _rounds(cell)):
            of_target = figures.setdefault(plan.target, {})
            of_target[plan.workload] = max(of_target.get(plan.workload, {}), rounds, key=_median)  # the best load, as there
    return composite(figures)


def composite_rows(found: Composite) -> list[tuple[str, str, str]]:
    """The cells of the table."""
    rows = []
    for score in found.scores:
        between = f"{three_digits(score.interval.low)} – {three_digits(score.interval.high)}" if score.interval else ""
        rows.append((score.target, three_digits(score.percent), between))
    return rows


def composite_note(found: Composite) -> str:
    """What the score is made of, and who is left out."""
    weights = ", ".join(f"{test} {WEIGHTS[test]:g}" for test in found.tests)
    missing = [test for test in WEIGHTS if test not in found.tests]
    note = f"Weights: {weights}. Each test relative to its mean; at the best load of each target."
    if missing:
        note += f" Not measured: {', '.join(missing)}."
    if found.left_out:
        note += f" Without a score, because a test is missing: {', '.join(found.left_out)}."
    return note


def _rounds(cell: Sequence[Trial]) -> dict[int, float]:
    """Requests/s of each round that counts."""
    counting = [(trial.plan.round, trial.measurement) for trial in last_attempts(cell) if trial.verdict.counts]
    return {number: measured.throughput_rps for number, measured in counting if measured and measured.throughput_rps > 0}


def _median(rounds: Rounds) -> float:
    return statistics.median(rounds.values()) if rounds else 0.0
