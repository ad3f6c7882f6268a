"""Compute one score per target from several of TechEmpower's tests: the weighted geometric mean of the target's throughputs.

Each test has a weight, and scores are relative to the best target. The ratio of two geometric means equals the geometric mean of the
ratios. For this reason, the order of two targets doesn't depend on the other targets of the run, and tests with higher throughput don't
have more influence (P. J. Fleming, J. J. Wallace, "How not to lie with statistics: the correct way to summarize benchmark results",
Communications of the ACM 29, 1986). As on TechEmpower's site, only targets with results for all tests get a score.

A target's score uses all rounds of that target. Its interval uses the rounds that it has in common with the best target.

Source of the idea: the announcement of TechEmpower's round 19, https://www.techempower.com/blog/2020/05/28/framework-benchmarks-round-19/.
TechEmpower never published the program that computes the site's scores, so others inferred the weights from the scores. The site adds up
weighted throughputs, relative to all frameworks of a round, whereas this module uses the geometric mean.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Mapping, Sequence

from pydantic import Field

from httpbench.model import Frozen
from httpbench.stats.interval import ROUNDS_MIN, ConfidenceInterval, around, quantile
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
    """95% confidence interval, in percent. Null: the best target, fewer than three common rounds, or shared cores."""
    rounds: int
    """Number of rounds in which both this target and the best one have results for all tests."""
    may_be_lower: bool = False
    """Whether the true score may be lower, because the best target may be faster than measured, or because the load generator used the
    target's cores, which makes differences smaller."""
    may_be_higher: bool = False
    """Whether the true score may be higher, because the load generator or the database was the limit in a test of this target."""
    is_lower_bound: bool = False
    """Same as ``may_be_higher``, under the name that earlier versions used."""


class Composite(Frozen):
    """The scores of a run."""

    tests: tuple[str, ...]
    """Workloads that count toward the scores."""
    scores: tuple[Score, ...]
    """Scores, the best target first."""
    left_out: tuple[str, ...]
    """Ids of targets without a score, because they lack results for a test or lost too many rounds of it."""


def composite(figures: Mapping[str, Mapping[str, Rounds]], bounds: Collection[str] = (), *, shared: bool = False) -> Composite | None:
    """Return the scores; ``None`` if there are fewer than two tests, or fewer than two targets with results for all tests.

    ``figures`` contains requests/s by target, workload and round. A target without rounds of a workload has no score. ``bounds`` contains
    the targets for which at least one result is only a lower bound. ``shared`` says whether the load generator used the targets' cores.
    """
    tests = tuple(test for test in WEIGHTS if any(of_target.get(test) for of_target in figures.values()))
    whole = {target: of_target for target, of_target in figures.items() if all(of_target.get(test) for test in tests)}
    if len(tests) < TESTS_MIN or len(whole) < TARGETS_MIN:
        return None
    scores = {target: _weighted({test: _log_mean(of_target[test]) for test in tests}) for target, of_target in whole.items()}
    by_round = {target: _by_round(of_target, tests) for target, of_target in whole.items()}
    best = max(scores, key=lambda target: (scores[target], target))

    def scored(target: str) -> Score:
        log_ratio, ratios = scores[target] - scores[best], _ratios(by_round[target], by_round[best])
        is_best = target == best
        return Score(
            target=target,
            percent=100 * math.exp(log_ratio),
            interval=None if is_best or shared else _interval(log_ratio, ratios),
            rounds=len(ratios),
            may_be_lower=not is_best and (best in bounds or shared),
            may_be_higher=target in bounds,
            is_lower_bound=target in bounds,
        )

    ranked = sorted(map(scored, whole), key=lambda score: (-score.percent, score.target != best, score.target))
    return Composite(tests=tests, scores=tuple(ranked), left_out=tuple(target for target in figures if target not in whole))


def _weighted(logs: Mapping[str, float]) -> float:
    """Return the logarithm of the weighted geometric mean over all tests. ``logs`` contains the logarithm of each test's requests/s."""
    return sum(WEIGHTS[test] * value for test, value in logs.items()) / sum(WEIGHTS[test] for test in logs)


def _log_mean(rounds: Rounds) -> float:
    return statistics.fmean(map(math.log, rounds.values()))


def _by_round(of_target: Mapping[str, Rounds], tests: Sequence[str]) -> dict[int, float]:
    """Return the logarithm of a target's score for each round that has results for all tests."""
    rounds = set.intersection(*(set(of_target[test]) for test in tests))
    return {number: _weighted({test: math.log(of_target[test][number]) for test in tests}) for number in rounds}


def _ratios(ours: Mapping[int, float], theirs: Mapping[int, float]) -> list[float]:
    """Return the logarithms of the ratios of two scores in their common rounds."""
    return [ours[number] - theirs[number] for number in sorted(ours.keys() & theirs.keys())]


def _interval(log_ratio: float, ratios: Sequence[float]) -> ConfidenceInterval | None:
    """Return the interval of a score in percent. ``log_ratio`` is the logarithm of the ratio of both scores over all rounds."""
    if len(ratios) < ROUNDS_MIN:
        return None
    reach = quantile(len(ratios)) * statistics.stdev(ratios) / math.sqrt(len(ratios))
    center = log_ratio + math.log(100)
    return around(center, center, reach)
