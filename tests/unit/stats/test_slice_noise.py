"""Tests of the lower bound that slices put on the noise of rounds, with simulated slices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.model import Trial, Verdict, VerdictKind
from httpbench.model.measurement import Interval
from httpbench.stats.figures import CPU, THROUGHPUT
from httpbench.stats.interval import Floats
from httpbench.stats.paired import compare
from httpbench.stats.precision import widest
from httpbench.stats.ranks import AllPairs
from httpbench.stats.slice_noise import explained_variance, slices_of
from tests.factories import make_measurement, make_plan, make_trial

pytestmark = pytest.mark.slow

RUNS = 2000
SLICE = 0.02
"""Standard deviation of the logarithm of a slice's throughput."""


def simulated(random: np.random.Generator, rounds: int, slices: int, start: float, slice_noise: float = SLICE) -> Floats:
    """Return the logarithm of a server's throughput in each slice of each round. ``start`` is the standard deviation of starts."""
    return random.normal(0, slice_noise, (rounds, slices)) + random.normal(0, start, (rounds, 1))


def by_round(slices: Floats) -> dict[int, Floats]:
    return dict(enumerate(slices))


def rates(slices: Floats) -> dict[int, float]:
    return dict(enumerate(np.exp(slices.mean(axis=1)).tolist()))


def claims(rounds: int, slices: int, start: float, *, slice_noise: float = SLICE, difference: float = 0.0) -> tuple[float, float]:
    """Return the share of comparisons that claim a difference, without and with the slices. ``difference`` is the true log ratio."""
    random = np.random.default_rng(7)
    plain = floored = 0
    for _ in range(RUNS):
        ours, theirs = (simulated(random, rounds, slices, start, slice_noise) for _ in range(2))
        explained = explained_variance(by_round(ours), by_round(theirs))
        found = [compare(rates(ours + difference), rates(theirs), explained=least) for least in (0.0, explained)]
        claimed = [one is not None and one.differs for one in found]
        plain, floored = plain + claimed[0], floored + claimed[1]
    return plain / RUNS, floored / RUNS


@pytest.mark.parametrize("slices", [6, 100])
@pytest.mark.parametrize("rounds", [3, 5])
def test_equal_servers_differ_much_more_rarely_if_starts_add_no_noise(rounds: int, slices: int) -> None:
    plain, floored = claims(rounds, slices, start=0.0)
    assert floored < 0.03
    assert plain > 0.035


@pytest.mark.parametrize("rounds", [3, 5])
def test_equal_servers_differ_in_at_most_5_percent_of_runs_if_starts_differ(rounds: int) -> None:
    _, floored = claims(rounds, slices=20, start=0.02)
    assert floored < 0.06


def test_five_rounds_of_100_slices_find_5_percent_almost_as_often() -> None:
    """The means of the rounds of each server vary by 2%."""
    plain, floored = claims(5, 100, start=0.0, slice_noise=0.2, difference=math.log(1.05))
    assert plain > 0.79
    assert floored > 0.78


@pytest.mark.parametrize("slices", [6, 20, 100])
def test_the_explained_variance_is_that_of_the_mean_of_a_round(slices: int) -> None:
    random = np.random.default_rng(7)
    ours, theirs = (simulated(random, 2000, slices, start=0.0) for _ in range(2))
    assert explained_variance(by_round(ours), by_round(theirs)) == pytest.approx(2 * SLICE**2 / slices, rel=0.1)


def test_a_steady_change_of_the_machine_cancels_out() -> None:
    """The order is A B B A, so the first target is ahead in one cycle and behind in the next."""
    drift = np.tile([0.05, -0.05], 10)
    rounds = range(5)
    assert explained_variance(dict.fromkeys(rounds, drift), dict.fromkeys(rounds, np.zeros(20))) == pytest.approx(0, abs=1e-12)
    assert explained_variance(dict.fromkeys(rounds, np.sort(drift)), dict.fromkeys(rounds, np.zeros(20))) > 1e-4


@pytest.mark.parametrize(
    ("ours", "theirs"), [([], []), ([0.1, 0.2], [0.0, 0.1]), ([0.1, 0.2, 0.3], [0.0] * 3), ([0.1, 0.5] * 3, [0.0] * 4)]
)
def test_too_few_or_unequal_slices_explain_nothing(ours: list[float], theirs: list[float]) -> None:
    rounds = range(5)
    assert explained_variance(dict.fromkeys(rounds, np.array(ours)), dict.fromkeys(rounds, np.array(theirs))) == 0


def test_too_few_common_rounds_explain_nothing() -> None:
    noise, even = np.array([0.1, 0.1, -0.1, -0.1]), np.zeros(4)
    assert explained_variance(dict.fromkeys(range(2), noise), dict.fromkeys(range(5), even)) == 0
    assert explained_variance(dict.fromkeys(range(3), noise), dict.fromkeys(range(5), even)) > 0


@given(st.lists(st.floats(1e3, 1e5), min_size=3, max_size=12), st.floats(0, 0.1))
def test_slices_never_narrow_an_interval(ours: list[float], explained: float) -> None:
    theirs = [value * (1 + 0.01 * (number % 3)) for number, value in enumerate(ours)]
    plain, floored = (compare(dict(enumerate(ours)), dict(enumerate(theirs)), explained=least) for least in (0.0, explained))
    assert plain is not None and floored is not None and plain.interval is not None and floored.interval is not None
    assert floored.ratio == plain.ratio
    assert floored.interval.low <= plain.interval.low and floored.interval.high >= plain.interval.high
    assert floored.p is not None and plain.p is not None and floored.p >= plain.p


def in_slices(target: str, logs: Floats, number: int, *, sliced: bool = True) -> Trial:
    parts = [Interval(start_s=0.1 * place, duration_s=0.1, completed=round(1e4 * math.exp(log))) for place, log in enumerate(logs)]
    measurement = make_measurement(1e5 * math.exp(logs.mean()), 0.1 * len(logs), intervals=parts)
    plan = make_plan(target, round=number).model_copy(update={"slices": len(logs) if sliced else None})
    return make_trial(plan, measurement=measurement)


def test_slices_of_trials() -> None:
    logs = np.array([0.1, -0.1, 0.2, 0.0])
    whole, failed = in_slices("a", logs, 1, sliced=False), in_slices("a", logs, 2)
    failed = failed.model_copy(update={"verdict": Verdict(kind=VerdictKind.INVALID, reasons=("wrong",))})
    stalled = in_slices("a", np.array([0.1, -100.0, 0.0]), 3)
    found = slices_of([in_slices("a", logs, 0), whole, failed, stalled])
    assert list(found) == [0]
    assert found[0] == pytest.approx(logs + math.log(1e5), abs=1e-3)
    assert THROUGHPUT.slices([in_slices("a", logs, 0)]).keys() == {0}
    assert CPU.slices([in_slices("a", logs, 0)]) == {}


def test_comparisons_ranks_and_precision_use_the_same_variance() -> None:
    """The rounds of these servers agree by chance, although their slices differ by several percent."""
    noise = np.array([0.05, 0.05, -0.05, -0.05, 0.03, 0.03, -0.03, -0.03])
    ours, theirs = (
        [in_slices(name, shift + sign * noise, number) for number in range(6)] for name, shift, sign in (("a", 0.002, 1), ("b", 0.0, -1))
    )
    slices = [THROUGHPUT.slices(row) for row in (ours, theirs)]
    results = [THROUGHPUT.rounds(row) for row in (ours, theirs)]
    explained = explained_variance(*slices)
    plain, floored = AllPairs(results).comparison(0, 1), AllPairs(results, slices=slices).comparison(0, 1)
    assert plain is not None and plain.differs
    assert floored is not None and not floored.differs
    assert floored == compare(results[0], results[1], explained=explained)
    width = widest([*ours, *theirs], "a")
    assert width is not None and floored.interval is not None
    assert width.half_width == pytest.approx(floored.interval.half_width)
    assert width.log_deviation == pytest.approx(math.sqrt(explained))
