"""Simulate searches for the first bad commit, to measure how often they are right."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from httpbench.model import Gate
from httpbench.stats.bisection import LOOKS, STEP_ERROR, Answer, Answered, Ending, Narrowed, narrowed, next_commit, step_error
from httpbench.stats.gates import Passage, passage
from httpbench.stats.interval import Floats
from httpbench.stats.paired import compare
from tests.change_point_law import NOISES

GATE = Gate(figure="rps", side="<", change=-0.03)
ANSWERS = {Passage.BREACHED: Answer.BAD, Passage.PASSED: Answer.GOOD}


@dataclass(frozen=True, slots=True)
class Searched:
    """The result of a simulated search."""

    answers: list[Answered]
    found: Narrowed

    def names(self, first_bad: int, commits: int) -> bool:
        """Return whether the search named the first bad commit. ``first_bad`` equals ``commits`` if no commit is bad."""
        ending = Ending.NONE if first_bad == commits else Ending.FOUND
        return self.found.ending is ending and self.found.first == self.found.last == first_bad

    def misses(self, first_bad: int) -> bool:
        """Return whether the range that the search named doesn't contain the first bad commit."""
        return not self.found.first <= first_bad <= self.found.last


def searched(commits: int, measure: Callable[[int], Answer], error: float = STEP_ERROR) -> Searched:
    """Search with a function that measures a commit. ``error`` is the assumed error of each measurement."""
    return searched_with(commits, lambda commit: Answered(commit, measure(commit), error))


def searched_with(commits: int, measure: Callable[[int], Answered]) -> Searched:
    """Search with a function that measures a commit, and that knows the assumed error of this measurement."""
    answers: list[Answered] = []
    while (commit := next_commit(commits, answers)) is not None:
        answers.append(measure(commit))
    return Searched(answers, narrowed(commits, answers))


def erring(random: np.random.Generator, first_bad: int, error: float) -> Callable[[int], Answer]:
    """Return a function that measures commits, and calls the wrong side with the probability ``error``."""
    return lambda commit: Answer.BAD if (commit >= first_bad) != (random.random() < error) else Answer.GOOD


def gated(random: np.random.Generator, log_change: float, log_deviation: float, noise: str = "normal") -> tuple[Answer, int, float]:
    """Measure a commit in rounds until the gate is decided. Return the answer, the number of rounds, and the assumed error."""
    logs: Floats = log_change + log_deviation * NOISES[noise](random, LOOKS[-1])
    for rounds in LOOKS:
        found = compare(dict(enumerate(np.exp(logs[:rounds]).tolist())), dict.fromkeys(range(rounds), 1.0))
        assert found is not None
        outcome = passage(GATE, found.interval)
        if outcome in ANSWERS and found.interval is not None:
            return ANSWERS[outcome], rounds, step_error(1 + GATE.change, found.interval, rounds)
    return Answer.UNDECIDED, LOOKS[-1], STEP_ERROR


def planted(random: np.random.Generator, commits: int, first_bad: int, regression: float, others: float) -> Floats:
    """Return the true log change of each commit from the good one: one regression, and small changes in all other commits that don't last.

    ``regression`` and ``others`` are fractions, such as 0.05 and 0.01.
    """
    logs = random.uniform(math.log1p(-others), math.log1p(others), commits)
    logs[first_bad:] += math.log1p(-regression)
    return logs
