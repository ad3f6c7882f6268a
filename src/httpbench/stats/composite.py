"""Compute one score per target from several of TechEmpower's tests: the weighted geometric mean of the target's throughputs.

Each test has a weight, and scores are relative to the best target. The ratio of two geometric means equals the geometric mean of the
ratios. For this reason, the order of two targets doesn't depend on the other targets of the run, and tests with higher throughput don't
have more influence (P. J. Fleming, J. J. Wallace, "How not to lie with statistics: the correct way to summarize benchmark results",
Communications of the ACM 29, 1986). As on TechEmpower's site, only targets with results for all tests get a score.

Each round is scored separately, relative to the best target, and the interval is computed over the scores of all rounds.

Source of the idea: the announcement of TechEmpower's round 19, https://www.techempower.com/blog/2020/05/28/framework-benchmarks-round-19/.
TechEmpower never published the program that computes the site's scores, so others inferred the weights from the scores. The site adds up
weighted throughputs, relative to all frameworks of a round, whereas this module uses the geometric mean.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Mapping

from pydantic import Field

from httpbench.model import Frozen
from httpbench.stats.interval import ConfidenceInterval, interval
from httpbench.stats.paired import Rounds

WEIGHTS: Mapping[str, float] = {"json": 1.0, "plaintext": 0.75, "db": 0.75, "query-20": 0.75, "fortune": 1.5, "update-20": 1.25}
"""Weights by workload. Query and update workloads count only with twenty rows."""
TESTS_MIN, TARGETS_MIN = 2, 2


class Score(Frozen):
    """The score of one target over all tests of the run."""

    target: str
    """Id of the target."""
    percent: float = Field(ge=0)
    """Score relative to the best target, in percent: the geometric mean over rounds."""
    interval: ConfidenceInterval | None
    """95% confidence interval, in percent. Null: the best target, or fewer than three rounds."""
    rounds: int
    """Number of rounds in which all scored targets have results for all tests."""
    is_lower_bound: bool = False
    """Whether the load generator or the database was the limit in a test, so that the target's true score may be higher."""


class Composite(Frozen):
    """The scores of a run."""

    tests: tuple[str, ...]
    """Workloads that count toward the scores."""
    scores: tuple[Score, ...]
    """Scores, the best target first."""
    left_out: tuple[str, ...]
    """Ids of targets without a score, because they lack results for a test."""


def composite(figures: Mapping[str, Mapping[str, Rounds]], bounds: Collection[str] = ()) -> Composite | None:
    """Return the scores; ``None`` if there are fewer than two tests, or fewer than two targets with results for all tests.

    ``figures`` contains requests/s by target, workload and round. ``bounds`` contains the targets for which at least one result is only a
    lower bound.
    """
    tests = tuple(test for test in WEIGHTS if any(of_target.get(test) for of_target in figures.values()))
    whole = {target: of_target for target, of_target in figures.items() if all(of_target.get(test) for test in tests)}
    if len(tests) < TESTS_MIN or len(whole) < TARGETS_MIN:
        return None
    rounds = sorted(set.intersection(*(set(of_target[test]) for of_target in whole.values() for test in tests)))
    if not rounds:
        return None
    by_round = [{target: _score({test: whole[target][test][number] for test in tests}) for target in whole} for number in rounds]
    best = max(whole, key=lambda target: statistics.geometric_mean([scores[target] for scores in by_round]))
    relative = {target: [scores[target] / scores[best] for scores in by_round] for target in whole}
    found = [
        Score(
            target=target,
            percent=100 * statistics.geometric_mean(of_target),
            interval=None if target == best else interval([100 * share for share in of_target]),
            rounds=len(rounds),
            is_lower_bound=target in bounds,
        )
        for target, of_target in relative.items()
    ]
    ranked = sorted(found, key=lambda score: (-score.percent, score.target != best, score.target))
    return Composite(tests=tests, scores=tuple(ranked), left_out=tuple(target for target in figures if target not in whole))


def _score(rps: Mapping[str, float]) -> float:
    """Return the weighted geometric mean of one target's requests/s over all tests. All values must be above zero."""
    total = sum(WEIGHTS[test] for test in rps)
    return math.exp(sum(WEIGHTS[test] * math.log(value) for test, value in rps.items()) / total)
