"""One score for a target over several tests, as TechEmpower ranks frameworks since its round 19.

Each test has a weight, and its throughput is divided by the mean over all scored targets, so that no test counts more because its requests
are cheaper. The score is the weighted sum. Only targets with all tests are scored, as there. Its site normalizes with all frameworks of
its round; here the targets of the run take their place, so scores of different runs cannot be compared.

Each round is scored by itself, relative to the best target; the interval is over rounds, as for any other figure.

Source: the announcement of TechEmpower's round 19, https://www.techempower.com/blog/2020/05/28/framework-benchmarks-round-19/. The program
of the site was never published: the weights are those that others found there, and to divide by the mean is a choice of this module.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from pydantic import Field

from httpbench.model import Frozen
from httpbench.stats.interval import ConfidenceInterval, interval
from httpbench.stats.paired import Rounds

WEIGHTS: Mapping[str, float] = {"json": 1.0, "plaintext": 0.75, "db": 0.75, "query-20": 0.75, "fortune": 1.5, "update-20": 1.25}
"""By workload. Of the tests with several rows, twenty count."""
TESTS_MIN, TARGETS_MIN = 2, 2


class Score(Frozen):
    """What one target reached over all tests of the run."""

    target: str
    """Id of the target."""
    percent: float = Field(ge=0)
    """Score relative to the best target, in percent: the geometric mean over rounds."""
    interval: ConfidenceInterval | None
    """95% confidence interval, in percent. Null: the best target, or fewer than three rounds."""
    rounds: int
    """Rounds in which all scored targets have all tests."""


class Composite(Frozen):
    """The scores of a run."""

    tests: tuple[str, ...]
    """Workloads that count."""
    scores: tuple[Score, ...]
    """The best target first."""
    left_out: tuple[str, ...]
    """Ids of targets without one of the tests."""


def composite(figures: Mapping[str, Mapping[str, Rounds]]) -> Composite | None:
    """Scores from requests/s by target, workload and round; ``None`` with fewer than two tests, or two targets that have all of them."""
    tests = tuple(test for test in WEIGHTS if any(of_target.get(test) for of_target in figures.values()))
    whole = {target: of_target for target, of_target in figures.items() if all(of_target.get(test) for test in tests)}
    if len(tests) < TESTS_MIN or len(whole) < TARGETS_MIN:
        return None
    rounds = sorted(set.intersection(*(set(of_target[test]) for of_target in whole.values() for test in tests)))
    if not rounds:
        return None
    by_round = [_scores({target: {test: whole[target][test][number] for test in tests} for target in whole}) for number in rounds]
    best = max(whole, key=lambda target: statistics.geometric_mean([scores[target] for scores in by_round]))
    relative = {target: [scores[target] / scores[best] for scores in by_round] for target in whole}
    found = [
        Score(
            target=target,
            percent=100 * statistics.geometric_mean(of_target),
            interval=None if target == best else interval([100 * share for share in of_target]),
            rounds=len(rounds),
        )
        for target, of_target in relative.items()
    ]
    ranked = sorted(found, key=lambda score: (-score.percent, score.target != best, score.target))
    return Composite(tests=tests, scores=tuple(ranked), left_out=tuple(target for target in figures if target not in whole))


def _scores(figures: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Weighted sums of one round, by target. ``figures``: requests/s by target and test, each above zero."""
    tests = next(iter(figures.values()))
    mean = {test: statistics.fmean(of_target[test] for of_target in figures.values()) for test in tests}
    return {target: sum(WEIGHTS[test] * rps / mean[test] for test, rps in of_target.items()) for target, of_target in figures.items()}
