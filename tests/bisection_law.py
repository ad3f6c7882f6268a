"""Simulate searches for the first bad commit, to measure how often they are right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from httpbench.analysis.bisection import ANSWERS, Bisection, BisectionStep, Effect, answers, concluded, gate_for
from httpbench.model import Commit, Gate
from httpbench.stats.bisection import LOOKS, LOOKS_WITHIN, STEP_ERROR, Answer, Answered, Ending, Narrowed, narrowed, next_commit
from httpbench.stats.gates import passage
from httpbench.stats.interval import Floats
from httpbench.stats.paired import compare
from tests.change_point_law import NOISES

GATE = Gate(figure="rps", side="<", change=-0.03)


@dataclass(frozen=True, slots=True)
class Searched:
    """The result of a simulated search."""

    answers: list[Answered]
    found: Narrowed

    def names(self, first_bad: int, commits: int) -> bool:
        """Return whether the search named the first bad commit. ``first_bad`` equals ``commits`` if no commit is bad."""
        ending = Ending.NONE if first_bad == commits else Ending.FOUND
        return self.found.ending is ending and self.found.first == self.found.last == first_bad


def searched(commits: int, measure: Callable[[int], Answer], error: float = STEP_ERROR) -> Searched:
    """Search with a function that measures a commit. ``error`` is the assumed error of each measurement."""
    found: list[Answered] = []
    while (commit := next_commit(commits, found)) is not None:
        found.append(Answered(commit, measure(commit), error))
    return Searched(found, narrowed(commits, found))


def erring(random: np.random.Generator, first_bad: int, error: float) -> Callable[[int], Answer]:
    """Return a function that measures commits, and calls the wrong side with the probability ``error``."""
    return lambda commit: Answer.BAD if (commit >= first_bad) != (random.random() < error) else Answer.GOOD


def gated(
    random: np.random.Generator,
    log_change: float,
    log_deviation: float,
    noise: str = "normal",
    gate: Gate = GATE,
    looks: Sequence[int] = LOOKS,
) -> tuple[Answer, Effect]:
    """Measure a commit in rounds until the gate is decided."""
    logs: Floats = log_change + log_deviation * NOISES[noise](random, looks[-1])
    for rounds in looks:
        found = compare(dict(enumerate(np.exp(logs[:rounds]).tolist())), dict.fromkeys(range(rounds), 1.0))
        assert found is not None
        answer = ANSWERS[passage(gate, found.interval)]
        effect = Effect(run="", rounds=rounds, ratio=found.ratio, interval=found.interval)
        if answer.decides:
            break
    return answer, effect


def searched_in_rounds(random: np.random.Generator, changes: Floats, log_deviation: float, noise: str = "normal") -> Bisection:
    """Search commits whose true log changes from the good commit are given. Rounds vary by ``log_deviation``."""
    good, *commits = (
        Commit(id=f"{number:040x}", tree=f"{number:040x}", author="Ada", date="2026-11-06T08:00:00Z", subject="")
        for number in range(len(changes) + 1)
    )
    steps: list[BisectionStep] = []
    while (place := next_commit(len(commits), answers(GATE, commits, steps))) is not None:
        commit = commits[place].id
        looks = LOOKS if place == len(commits) - 1 else LOOKS_WITHIN
        answer, effect = gated(random, changes[place], log_deviation, noise, gate_for(GATE, commits[-1], steps, commit), looks)
        steps.append(BisectionStep(commit=commit, answer=answer, effect=effect))
    return concluded(GATE, good, commits, steps)


def planted(random: np.random.Generator, commits: int, first_bad: int, regression: float, others: float) -> Floats:
    """Return the true log change of each commit from the good one: one regression, and small changes in all commits that don't last.

    ``regression`` and ``others`` are fractions, such as 0.05 and 0.01.
    """
    good, *logs = random.uniform(math.log1p(-others), math.log1p(others), commits + 1)
    changes: Floats = np.array(logs) - good
    changes[first_bad:] += math.log1p(-regression)
    return changes
