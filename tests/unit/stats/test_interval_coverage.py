"""Simulate the error rates of intervals, with fixed seeds: about 5% of runs claim that equal servers differ, whatever the noise.

For a true rate of 5%, 1,000 runs give between 3.6% and 6.4% (± 2 standard errors); the bound is 6.5%. A rate below 5% is fine,
because Student's t is cautious with heavy tails.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from httpbench.cli.verbs.run import ROUNDS_MAX, ROUNDS_MIN
from httpbench.stats.histogram import merged_intervals
from httpbench.stats.interval import Floats, centers, interval, quantile, standard_error
from httpbench.stats.paired import compare
from httpbench.stats.ranks import AllPairs
from httpbench.stats.unpaired import change
from tests.factories import make_distribution, make_histogram

pytestmark = pytest.mark.slow

RUNS = 1000
FALSE_CLAIMS_MAX = 0.065
DRIFT = 0.03

Noise = Callable[[np.random.Generator, tuple[int, int]], Floats]

Noise3 = Callable[[np.random.Generator, tuple[int, int, int]], Floats]

NOISES: dict[str, Noise] = {
    "normal": lambda random, shape: random.normal(0, 0.01, shape),
    "heavy tails": lambda random, shape: 0.006 * random.standard_t(3, shape),
    "leans to slow": lambda random, shape: -0.01 * random.lognormal(0, 0.7, shape),
    "one round in ten is disturbed": lambda random, shape: random.normal(0, 0.005, shape) - 0.15 * (random.random(shape) < 0.1),
}


def rates(random: np.random.Generator, noise: str, rounds: int, factor: float = 1.0) -> tuple[Floats, Floats]:
    """Return requests per second of two servers in ``RUNS`` runs, on a machine that drifts by 3% from round to round."""
    drift = random.normal(0, DRIFT, (RUNS, rounds))
    ours, theirs = (NOISES[noise](random, (RUNS, rounds)) for _ in range(2))
    return 1e5 * factor * np.exp(ours + drift), 1e5 * np.exp(theirs + drift)


def disturbed(random: np.random.Generator, shape: tuple[int, ...], loss: float) -> Floats:
    """Return the logarithm of a disturbed server's throughput in each round. In one of ten rounds, the logarithm is lower by ``loss``.

    The tests compare this server with an equal one that is never disturbed.
    """
    return random.normal(0, 0.005, shape) - loss * (random.random(shape) < 0.1)


def by_round(values: Floats) -> dict[int, float]:
    return dict(enumerate(values.tolist()))


def claimed(ours: Floats, theirs: Floats) -> float:
    """Return the share of runs in which a difference is claimed. Each row is a run."""
    found = [compare(by_round(one), by_round(other)) for one, other in zip(ours, theirs, strict=True)]
    return sum(comparison is not None and comparison.differs for comparison in found) / len(found)


def pairs_told(figures: Floats) -> list[float]:
    """Return, for each table (first axis), the share of pairs of rows that ranks tell apart."""
    ranked = [AllPairs([by_round(row) for row in table]).ranges(range(len(table))) for table in figures]
    return [sum(row.best - 1 for row in found) / math.comb(len(found), 2) for found in ranked]


def false_ranks(figures: Floats) -> float:
    """Return the share of tables (first axis) in which ranks tell at least two rows apart, although all rows are equal."""
    return float(np.mean([told > 0 for told in pairs_told(figures)]))


@pytest.mark.parametrize("rounds", [3, 4, 5, 10])
@pytest.mark.parametrize("noise", NOISES)
def test_equal_servers_rarely_differ(noise: str, rounds: int) -> None:
    random = np.random.default_rng(1)
    found = [compare(by_round(one), by_round(other)) for one, other in zip(*rates(random, noise, rounds), strict=True)]
    assert sum(comparison is not None and comparison.differs for comparison in found) / RUNS <= FALSE_CLAIMS_MAX


@pytest.mark.parametrize("rounds", [3, 5, 10])
@pytest.mark.parametrize("noise", NOISES)
def test_ratio_intervals_contain_the_true_value(noise: str, rounds: int) -> None:
    random = np.random.default_rng(2)
    found = [compare(by_round(one), by_round(other)) for one, other in zip(*rates(random, noise, rounds, factor=1.1), strict=True)]
    missed = [not c.interval.low <= 1.1 <= c.interval.high for c in found if c is not None and c.interval is not None]
    assert len(missed) == RUNS
    assert sum(missed) / RUNS <= FALSE_CLAIMS_MAX


def test_five_rounds_find_5_percent_with_1_percent_noise() -> None:
    random = np.random.default_rng(3)
    found = [compare(by_round(one), by_round(other)) for one, other in zip(*rates(random, "normal", 5, factor=0.95), strict=True)]
    assert sum(comparison is not None and comparison.differs for comparison in found) / RUNS >= 0.95


@pytest.mark.parametrize("rounds", [3, 5, 6, 7, 10, 20, 30, 60])
@pytest.mark.parametrize("loss", [0.02, 0.15])
def test_equal_servers_rarely_differ_if_one_is_disturbed(loss: float, rounds: int) -> None:
    """Student's interval alone errs in 6% of runs with ten rounds, 12% with twenty, 30% with thirty and 80% with sixty.

    The bound for 600 runs is 5% plus two standard errors of 0.9%.
    """
    random = np.random.default_rng(14)
    ours, theirs = disturbed(random, (600, rounds), loss), random.normal(0, 0.005, (600, rounds))
    assert claimed(np.exp(ours), np.exp(theirs)) <= 0.068


@pytest.mark.parametrize("rounds", [3, 5, 10, 20, 30])
@pytest.mark.parametrize("loss", [0.05, 0.15])
def test_equal_runs_rarely_differ_if_one_is_disturbed(loss: float, rounds: int) -> None:
    random = np.random.default_rng(15)
    ours, theirs = disturbed(random, (1000, rounds), loss), random.normal(0, 0.005, (1000, rounds))
    found = [change(np.exp(one).tolist(), np.exp(other).tolist()) for one, other in zip(ours, theirs, strict=True)]
    assert sum(each is not None and each.differs for each in found) / 1000 <= 0.07  # Welch's intervals are approximate, see test_unpaired


@pytest.mark.parametrize("rounds", [3, 10, 30, 60])
@pytest.mark.parametrize("rows", [2, 4, 8])
def test_equal_rows_rarely_differ_in_rank_if_one_is_disturbed(rows: int, rounds: int) -> None:
    random = np.random.default_rng(16)
    logs = random.normal(0, 0.005, (200, rows, rounds)) + random.normal(0, DRIFT, (200, 1, rounds))
    logs[:, 0] += disturbed(random, (200, rounds), 0.03)
    assert false_ranks(np.exp(logs)) <= 0.08


@pytest.mark.parametrize(("deviation", "least"), [(0.01, 0.99), (0.02, 0.75)])
@pytest.mark.parametrize("factor", [0.95, 0.9])
@pytest.mark.parametrize("rounds", [5, 10, 30])
def test_finds_differences_of_5_and_10_percent(rounds: int, factor: float, deviation: float, least: float) -> None:
    """The two servers vary by 1% or 2% from round to round."""
    random = np.random.default_rng(17)
    ours, theirs = (np.exp(random.normal(0, deviation, (400, rounds))) for _ in range(2))
    assert claimed(factor * ours, theirs) >= least


def test_finds_10_percent_with_one_disturbed_round_in_ten() -> None:
    random = np.random.default_rng(18)
    ours, theirs = disturbed(random, (400, 10), 0.15), random.normal(0, 0.005, (400, 10))
    assert claimed(0.9 * np.exp(ours), np.exp(theirs)) >= 0.9


STEADINESS: dict[str, Callable[[int], Floats]] = {
    "all rows alike": lambda rows: np.full(rows, 0.05),
    "one row ten times as noisy": lambda rows: np.where(np.arange(rows) == 0, 0.2, 0.02),
    "every other row seven times as noisy": lambda rows: np.where(np.arange(rows) % 2, 0.02, 0.15),
    "from 1% to 20%": lambda rows: np.geomspace(0.01, 0.2, rows),
}


@pytest.mark.parametrize("rounds", [3, 5])
@pytest.mark.parametrize("rows", [4, 8, 12])
@pytest.mark.parametrize("steadiness", STEADINESS)
def test_equal_rows_rarely_differ_in_rank(steadiness: str, rows: int, rounds: int) -> None:
    """Holm's method covers the whole table: twelve rows make 66 comparisons, and at most 5% of tables have a false claim."""
    random = np.random.default_rng(4)
    noise = STEADINESS[steadiness](rows)[:, np.newaxis]
    figures = 1e5 * np.exp(random.normal(0, 1, (400, rows, rounds)) * noise + random.normal(0, DRIFT, (400, 1, rounds)))
    assert false_ranks(figures) <= 0.08  # 5% plus more than two standard errors for 400 tables


@pytest.mark.parametrize(
    ("noise", "least"),
    [
        (lambda random, shape: random.normal(0, 0.05, shape), 0.96),
        (lambda random, shape: random.standard_t(3, shape) * 0.05 / math.sqrt(3), 0.94),
        (lambda random, shape: random.normal(0, 1, shape) * np.where(np.arange(10) % 2, 0.025, 0.066)[:, np.newaxis], 0.94),
        (lambda random, shape: random.normal(0, 0.05, shape) - 0.15 * (random.random(shape) < 0.1), 0.86),
    ],
    ids=["normal", "heavy tails", "variances differ 7-fold", "dips in a tenth"],
)
def test_three_rounds_tell_most_rows_apart(noise: Noise3, least: float) -> None:
    """Adjacent rows of the ten differ by 18%. Without moderated variances, ranks told 88%, 92%, 89% and 76% of the pairs apart."""
    random = np.random.default_rng(19)
    shape = (300, 10, 3)
    logs = noise(random, shape) + random.normal(0, DRIFT, (300, 1, 3)) + 0.18 * np.arange(10)[:, np.newaxis]
    assert np.mean(pairs_told(np.exp(logs))) >= least


def test_intervals_contain_the_true_center() -> None:
    random = np.random.default_rng(5)
    found = [interval((1e5 * np.exp(values)).tolist()) for values in random.normal(0, DRIFT, (RUNS, 5))]
    assert sum(not bounds.low <= 1e5 <= bounds.high for bounds in found if bounds is not None) / RUNS <= FALSE_CLAIMS_MAX


def test_merged_percentile_intervals_contain_the_true_value() -> None:
    """Rounds differ by 3% and have 2,000 requests each; the true value comes from 4,000 such rounds.

    The bound for 150 runs is 5% plus two standard errors of 1.8%.
    """
    random = np.random.default_rng(6)

    def samples(rounds: int) -> Floats:
        return 1e5 * np.exp(random.normal(0, DRIFT, (rounds, 1)) + random.normal(0, 0.3, (rounds, 2000)))

    truth_us = float(np.quantile(samples(4000), 0.99)) / 1000
    missed = 0
    for _ in range(150):
        rounds = [make_distribution(histogram=make_histogram(part.astype(int).tolist())) for part in samples(5)]
        bounds = merged_intervals(rounds)["p99"]
        missed += not bounds.low <= truth_us <= bounds.high
    assert missed / 150 <= 0.086


@pytest.mark.parametrize("dips", [0.0, 0.1])
@pytest.mark.parametrize("deviation", [0.012, 0.02, 0.025, 0.03, 0.05])
def test_stopping_at_a_narrow_interval_does_not_cause_false_claims(deviation: float, dips: float) -> None:
    """With ``--precision 2%``, equal servers differ in at most 5% of runs, even if one of them loses 2% in a tenth of the rounds.

    With five or three rounds before the first check, they would differ in up to 5.7% or 7.8% of runs. These 1,000 runs don't tell 5% from
    5.7%. ``benchmarks/interleaving/precision.py`` does.
    """
    random = np.random.default_rng(7)
    ours = random.normal(0, deviation, (RUNS, ROUNDS_MAX)) - 0.02 * (random.random((RUNS, ROUNDS_MAX)) < dips)
    claims = sum(claims_at_narrow_interval(ratios, half_width=0.02) for ratios in ours)
    assert claims / RUNS <= FALSE_CLAIMS_MAX


def claims_at_narrow_interval(ratios: Floats, half_width: float) -> bool:
    """Return whether a run with these log ratios claims a difference when its interval is narrow enough, or after the last round."""
    for rounds in range(ROUNDS_MIN, len(ratios) + 1):
        (low, high), reach = centers(ratios[:rounds]), quantile(rounds) * standard_error(ratios[:rounds])
        if math.expm1((high - low) / 2 + reach) <= half_width:
            break
    return low - reach > 0 or high + reach < 0


def test_stopping_at_a_narrow_interval_lowers_the_coverage_of_a_single_server() -> None:
    """At least 92% of the final intervals must contain the true value.

    With two standard errors for 1,000 runs added, up to 9.7% of the intervals may miss it.
    """
    random = np.random.default_rng(7)
    for deviation in (0.012, 0.02, 0.03, 0.05):
        missed = 0
        for ratios in random.normal(0, deviation, (RUNS, ROUNDS_MAX)):
            enough = (n for n in range(ROUNDS_MIN, ROUNDS_MAX) if quantile(n) * standard_error(ratios[:n]) <= np.log1p(0.02))
            rounds = next(enough, ROUNDS_MAX)
            missed += abs(ratios[:rounds].mean()) > quantile(rounds) * standard_error(ratios[:rounds])
        assert missed / RUNS <= 0.097


def test_three_rounds_give_wide_intervals() -> None:
    """For the same standard error, the interval of three rounds is 55% wider than the interval of five rounds."""
    assert quantile(3) / quantile(5) == pytest.approx(1.55, abs=0.01)
