"""A search for the commit that made a server slower: its measurements, what they show, and the effect of the commit.

:mod:`httpbench.stats.bisection` decides which commit is measured next, and when the search ends.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Self

from httpbench.analysis.beyond import NOWHERE
from httpbench.analysis.compared import lost_too_many
from httpbench.analysis.gates import RunGate
from httpbench.model import Commit, Frozen, Gate
from httpbench.stats.bisection import Answer, Answered, Ending, narrowed, step_bound, step_error
from httpbench.stats.gates import Passage, lost_rounds, passage
from httpbench.stats.interval import ConfidenceInterval

ANSWERS = {Passage.BREACHED: Answer.BAD, Passage.PASSED: Answer.GOOD, Passage.INCONCLUSIVE: Answer.UNDECIDED}


BOUND_DIGITS = 4
"""Decimal places of the bound between good and bad commits, as a ratio."""


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
    is_bound: bool = False
    """Whether the true ratio may lie outside the interval, because a result is only a bound."""

    @classmethod
    def of(cls, run: str, judged: RunGate | None) -> Self:
        """Return the effect that a gate was judged by. ``None``: the run has no such gate."""
        if judged is None:
            return cls(run=run, rounds=0, ratio=None, interval=None)
        is_bound = judged.beyond != NOWHERE
        return cls(run=run, rounds=judged.rounds, ratio=judged.ratio, interval=judged.interval, is_bound=is_bound)

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
    """Why the commit was skipped or can't be judged. Null: its interval is on one side of the bound, or contains the bound."""

    def judged_by(self, gate: Gate) -> Self:
        """Return the measurement with its answer by another gate. The answer stays if it doesn't depend on the interval alone."""
        if self.effect is None or self.effect.interval is None or self.effect.is_bound:
            return self
        return self.model_copy(update={"answer": ANSWERS[passage(gate, self.effect.interval)]})

    def newest_answer(self, gate: Gate) -> Answer:
        """Return the answer for the newest commit. If its gate is inconclusive after all rounds, a change for the worse is bad."""
        is_open = self.answer is Answer.UNDECIDED and self.effect is not None and not self.effect.is_bound
        return Answer.BAD if is_open and self.effect and self.effect.worsens(gate) else self.answer


class Bisection(Frozen):
    """The result of a search for the commit that made a server slower."""

    gate: Gate
    """Gate that ``bad`` breaches if there is a commit to find."""
    bound: Gate
    """Gate that all other commits were judged by at the end. It lies between the results of good and bad commits."""
    good: Commit
    """Commit to compare the others with."""
    bad: Commit
    """Newest commit of the search."""
    commits: int
    """Number of commits after ``good`` up to ``bad``."""
    ending: Ending
    """``found``, ``none`` (``bad`` passes the gate) or ``undecided``."""
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

    @property
    def is_bad_before(self) -> bool:
        """Whether the commit before the suspects breaches the gate, too: there is an earlier regression."""
        effects = [step.effect for step in self.steps if self.before and step.commit == self.before.id and step.effect]
        return any(passage(self.gate, effect.interval) is Passage.BREACHED for effect in effects)


def gate_for(gate: Gate, newest: Commit, steps: Sequence[BisectionStep], commit: str) -> Gate:
    """Return the gate that a commit is judged by.

    For the newest commit, and until it is known to be bad, this is ``gate`` itself. After that, the bound for other commits lies between
    the results of good and bad commits.
    """
    changes: dict[str, list[float]] = {}
    for step in steps:
        if step.effect and step.effect.ratio and not step.effect.is_bound:
            changes.setdefault(step.commit, []).append(math.log(step.effect.ratio))
    is_bad = any(step.commit == newest.id and step.newest_answer(gate) is Answer.BAD for step in steps)
    if commit == newest.id or not is_bad or newest.id not in changes:
        return gate
    means = {name: statistics.mean(own) for name, own in changes.items()}
    return gate.model_copy(update={"change": round(math.expm1(step_bound(means.pop(newest.id), means.values())), BOUND_DIGITS)})


def judged_again(gate: Gate, commits: Sequence[Commit], steps: Sequence[BisectionStep]) -> list[BisectionStep]:
    """Return the measurements with answers by the bound that all of them together suggest."""
    return [step.judged_by(gate_for(gate, commits[-1], steps, step.commit)) for step in steps]


def answers(gate: Gate, commits: Sequence[Commit], steps: Sequence[BisectionStep]) -> list[Answered]:
    """Return the measurements with the places of their commits, oldest first.

    If an interval contains the bound, its middle is on the more probable side.
    """
    places = {commit.id: place for place, commit in enumerate(commits)}
    return [
        _answered(places[step.commit], step, gate_for(gate, commits[-1], steps, step.commit), is_newest=step.commit == commits[-1].id)
        for step in judged_again(gate, commits, steps)
    ]


def _answered(place: int, step: BisectionStep, gate: Gate, *, is_newest: bool) -> Answered:
    effect = step.effect
    if effect is None or effect.ratio is None or effect.interval is None or effect.is_bound:
        return Answered(place, step.answer)
    error = step_error(1 + gate.change, effect.interval, effect.rounds)
    if is_newest and not step.answer.decides:
        return Answered(place, step.newest_answer(gate), step_error(1.0, effect.interval, effect.rounds))
    if step.answer.decides:
        return Answered(place, step.answer, error)
    is_worse = effect.ratio < 1 + gate.change if gate.side == "<" else effect.ratio > 1 + gate.change
    return Answered(place, Answer.BAD if is_worse else Answer.GOOD, error)


def concluded(gate: Gate, good: Commit, commits: Sequence[Commit], steps: Sequence[BisectionStep]) -> Bisection:
    """Return what a search shows, without a confirmation."""
    known = narrowed(len(commits), answers(gate, commits, steps))
    before = [good, *commits][known.first]
    return Bisection(
        gate=gate,
        good=good,
        bad=commits[-1],
        bound=gate_for(gate, commits[-1], steps, good.id),
        commits=len(commits),
        ending=known.ending,
        suspects=tuple(commits[known.first : known.last + 1]),
        probability=known.probability,
        steps=tuple(judged_again(gate, commits, steps)),
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
