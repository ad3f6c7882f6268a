"""A search for the commit that breaches a gate: its measurements, what they show, and the effect of the commit.

:mod:`httpbench.stats.bisection` decides which commit is measured next, and when the search ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from httpbench.analysis.compared import lost_too_many
from httpbench.analysis.gates import RunGate
from httpbench.model import Commit, Frozen, Gate
from httpbench.stats.bisection import STEP_ERROR, Answer, Answered, Ending, narrowed, step_error
from httpbench.stats.gates import Passage, lost_rounds
from httpbench.stats.interval import ConfidenceInterval

ANSWERS = {Passage.BREACHED: Answer.BAD, Passage.PASSED: Answer.GOOD, Passage.INCONCLUSIVE: Answer.UNDECIDED}


class Effect(Frozen):
    """The measured result of a commit, relative to another commit."""

    run: str
    """Id of the run that measured both commits."""
    rounds: int
    """Number of rounds in which the trials of both commits count."""
    ratio: float | None
    """Result of the commit divided by the result of the other one. Null: unknown."""
    interval: ConfidenceInterval | None
    """95% confidence interval of the ratio. Null: unknown."""

    @classmethod
    def of(cls, run: str, judged: RunGate | None) -> Self:
        """Return the effect that a gate was judged by. ``None``: the run has no such gate."""
        if judged is None:
            return cls(run=run, rounds=0, ratio=None, interval=None)
        return cls(run=run, rounds=judged.rounds, ratio=judged.ratio, interval=judged.interval)

    def worsens(self, gate: Gate) -> bool:
        """Return whether the whole interval is on the worse side of no change."""
        if self.interval is None:
            return False
        return self.interval.high < 1 if gate.side == "<" else self.interval.low > 1


class BisectionStep(Frozen):
    """One measurement of a commit against the good one."""

    commit: str
    """Hash of the commit."""
    answer: Answer
    """``good``, ``bad``, ``undecided`` or ``skipped``."""
    effect: Effect | None = None
    """Measured change from the good commit. Null: nothing was measured."""
    reason: str | None = None
    """Why the commit was skipped or is undecided. Null: it was judged."""


class Bisection(Frozen):
    """The result of a search for the first commit that breaches a gate."""

    gate: Gate
    """Gate that each commit was judged by."""
    good: Commit
    """Commit to compare the others with."""
    bad: Commit
    """Newest commit of the search."""
    commits: int
    """Number of commits after ``good`` up to ``bad``."""
    ending: Ending
    """``found``, ``none`` (no commit breaches the gate) or ``undecided``."""
    suspects: tuple[Commit, ...]
    """The commits among which the first bad one is, oldest first. If one was found, there are several only if all but the last one could
    not be judged. Empty: no commit is bad."""
    probability: float
    """Probability of the result."""
    steps: tuple[BisectionStep, ...]
    """All measurements, in order."""
    before: Commit | None = None
    """Last commit before the suspects. Null: nothing was found."""
    confirmation: Effect | None = None
    """Change from ``before`` to the last suspect, measured after the search. Null: not measured."""

    @property
    def measured(self) -> int:
        """Number of different commits that were measured."""
        return len({step.commit for step in self.steps if step.answer is not Answer.SKIPPED})


def answers(gate: Gate, commits: Sequence[Commit], steps: Sequence[BisectionStep]) -> list[Answered]:
    """Return the measurements with the places of their commits, oldest first."""
    places = {commit.id: place for place, commit in enumerate(commits)}
    return [Answered(places[step.commit], step.answer, _error(gate, step.effect)) for step in steps]


def _error(gate: Gate, effect: Effect | None) -> float:
    if effect is None or effect.interval is None:
        return STEP_ERROR
    return step_error(1 + gate.change, effect.interval, effect.rounds)


def concluded(gate: Gate, good: Commit, commits: Sequence[Commit], steps: Sequence[BisectionStep]) -> Bisection:
    """Return what a search shows, without a confirmation."""
    known = narrowed(len(commits), answers(gate, commits, steps))
    before = [good, *commits][known.first]
    return Bisection(
        gate=gate,
        good=good,
        bad=commits[-1],
        commits=len(commits),
        ending=known.ending,
        suspects=tuple(commits[known.first : known.last + 1]),
        probability=known.probability,
        steps=tuple(steps),
        before=before if known.ending is Ending.FOUND else None,
    )


def answer(judged: RunGate | None) -> Answer | None:
    """Return what a gate says about a commit, or ``None`` if the good commit itself could not be measured.

    ``judged`` is ``None`` if the run has no table with both commits.
    """
    baseline = judged.group.row(judged.baseline) if judged else None
    if judged is None or judged.row is None or baseline is None or (lost_rounds(baseline.trials) and lost_too_many(baseline.trials)):
        return None
    if judged.passage in ANSWERS:
        return ANSWERS[judged.passage]
    return Answer.SKIPPED if lost_rounds(judged.row.trials) else Answer.UNDECIDED
