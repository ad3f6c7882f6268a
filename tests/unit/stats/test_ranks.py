"""Tests of ranks, which are based on significant differences between rows in the rounds that all rows have."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.stats.interval import Floats
from httpbench.stats.paired import Rounds, compare
from httpbench.stats.ranks import CAUTION, AllPairs, RankRange, moderated, noise_of_rows, pooled


def by_round(values: list[float], first: int = 0) -> dict[int, float]:
    return dict(enumerate(values, start=first))


def ranks(rows: Sequence[Rounds], bounds: Collection[int] = ()) -> list[tuple[int, int]]:
    return [(rank.best, rank.worst) for rank in AllPairs(rows).ranges(range(len(rows)), bounds)]


def tables(random: np.random.Generator, means: Floats, noise: Floats, rounds: int, count: int) -> list[list[dict[int, float]]]:
    """Return tables measured on a machine that drifts by 10% from round to round."""
    shape = (count, len(means), rounds)
    logs = np.log(means)[:, None] + random.normal(0, 1, shape) * noise[:, None] + random.normal(0, 0.1, (count, 1, rounds))
    return [[by_round(row) for row in table] for table in np.exp(logs).tolist()]


def test_indistinguishable_rows_have_the_same_range() -> None:
    fast, as_fast = [200.0, 202.0, 199.0, 201.0, 200.5], [201.0, 200.0, 200.0, 202.0, 199.5]
    slow = [100.0, 101.0, 99.5, 100.2, 100.1]
    assert ranks([by_round(slow), by_round(fast), by_round(as_fast)]) == [(3, 3), (1, 2), (1, 2)]


def test_noisy_rows_are_ranked_below_significantly_faster_rows_only() -> None:
    steady, below = [200.0, 201.0, 200.0, 199.0], [190.0, 191.0, 190.0, 189.0]
    wild = [260.0, 120.0, 150.0, 240.0]
    assert ranks([by_round(steady), by_round(below), by_round(wild)]) == [(1, 2), (2, 3), (1, 3)]


def test_with_too_few_rounds_every_row_may_have_every_rank() -> None:
    assert ranks([by_round([100, 101]), by_round([200, 201])]) == [(1, 2), (1, 2)]
    assert ranks([by_round([100 * row, 101 * row]) for row in range(1, 6)]) == [(1, 5)] * 5
    assert ranks([]) == []


@given(st.permutations([by_round([100.0, 101, 99, 100]), by_round([100.5, 100, 99, 101]), by_round([300.0, 301, 299, 300])]))
def test_ranks_do_not_depend_on_row_order(rows: list[dict[int, float]]) -> None:
    assert [rank for _, rank in sorted(zip((row[0] for row in rows), ranks(rows), strict=True))] == [(2, 3), (2, 3), (1, 1)]


def test_one_erratic_row_keeps_its_range_to_itself() -> None:
    """A bad round of one server must not give rank 1 to a server with half the throughput of the fastest."""
    rows = [[302e3, 300e3, 296e3], [161e3, 211e3, 206e3], [186e3, 190e3, 184e3], [165e3, 163e3, 168e3], [148e3, 151e3, 150e3]]
    erratic = ranks([by_round(row) for row in rows])
    assert erratic[0] == (1, 1)
    assert min(best for best, _ in erratic[1:]) == 2
    assert erratic[4][1] == 5
    assert erratic[4][0] >= 3


def test_no_row_is_above_a_lower_bound() -> None:
    rows = [by_round([value] * 3) for value in (400.0, 300.0, 200.0, 100.0)]
    assert ranks(rows, bounds=[1]) == [(1, 2), (1, 2), (3, 3), (4, 4)]
    assert ranks(rows, bounds=[3]) == [(1, 2), (2, 3), (3, 4), (1, 4)]
    assert ranks(rows, bounds=range(4)) == [(1, 4)] * 4


def test_a_row_that_is_not_ranked_takes_no_rank() -> None:
    rows = [by_round([value] * 3) for value in (400.0, 300.0, 200.0, 100.0)]
    found = AllPairs(rows).ranges([1, 2, 3])
    assert found == [RankRange(1, 1), RankRange(2, 2), RankRange(3, 3)]


def test_a_comparison_and_its_reverse_agree() -> None:
    (table,) = tables(np.random.default_rng(3), np.array([150.0, 148, 146, 50]), np.full(4, 0.05), 8, 1)
    tested = AllPairs(table)
    forth, back = tested.comparison(0, 3), tested.comparison(3, 0)
    assert forth is not None
    assert back is not None
    assert forth.interval is not None
    assert back.interval is not None
    assert (forth.ratio, forth.p, forth.p_adjusted) == pytest.approx((1 / back.ratio, back.p, back.p_adjusted))
    assert (forth.interval.low, forth.interval.high) == pytest.approx((1 / back.interval.high, 1 / back.interval.low))


def test_two_rows_are_compared_like_a_pair() -> None:
    ours, theirs = by_round([105.0, 104.5, 106.2]), by_round([100.0, 100.4, 100.1])
    assert AllPairs([ours, theirs], 0.001).comparison(0, 1) == compare(ours, theirs, 0.001)


def test_a_clear_pair_is_not_clear_among_many() -> None:
    clear, even = by_round([105.0, 103.5, 107.2]), by_round([100.0, 100.4, 100.1])
    alone, among = AllPairs([clear, even]).comparison(0, 1), AllPairs([clear, even, even]).comparison(0, 1)
    assert alone is not None
    assert among is not None
    assert alone.p_adjusted == alone.p == among.p
    assert among.p_adjusted == pytest.approx(3 * alone.p)  # type: ignore[operator]


@given(st.lists(st.lists(st.floats(50, 200), min_size=3, max_size=3), min_size=4, max_size=8))
def test_moderated_variances_lie_between_their_own_and_the_mean(rows: list[list[float]]) -> None:
    logs = np.log(np.array(rows))
    own = np.maximum(noise_of_rows(logs), 1e-18)
    found, priors = moderated(logs)
    usual = CAUTION * own[priors > 0].mean() if (priors > 0).any() else 0.0
    assert np.all(found >= np.minimum(own, usual) * (1 - 1e-9))
    assert np.all(found <= np.where(priors > 0, np.maximum(own, usual), own) * (1 + 1e-9))
    assert np.all(priors <= (len(rows) - 2) * 2 / 4)


def test_rows_without_noise_are_ranked_with_certainty() -> None:
    assert ranks([by_round([value] * 3) for value in (400.0, 300.0, 300.0, 200.0, 100.0)]) == [(1, 1), (2, 3), (2, 3), (4, 4), (5, 5)]


def test_three_noisy_rounds_of_many_rows_show_large_differences() -> None:
    """The throughput of each row varies by 8%. In 90% of the tables, the five rows with a third of the throughput rank below the others."""
    random = np.random.default_rng(1)
    means = np.array([150.0, 148, 146, 144, 142, 50, 49, 48, 47, 46])
    told = [min(ranks(table)[5:])[0] == 6 for table in tables(random, means, np.full(10, 0.08), 3, 200)]
    assert sum(told) / len(told) >= 0.85


def test_rows_are_compared_over_their_valid_rounds() -> None:
    rows = [by_round([scale * value for value in (100.0, 101.0, 99.0, 100.0)]) for scale in (4, 3, 2, 1)]
    del rows[0][2]
    assert ranks(rows) == [(1, 1), (2, 2), (3, 3), (4, 4)]
    del rows[0][3]
    assert ranks(rows) == [(1, 4), (1, 2), (2, 3), (3, 4)], "a row of two rounds is compared with nobody"


def test_a_row_with_many_failed_rounds_is_not_pooled() -> None:
    rows = [by_round([100.0 + row] * 5) for row in range(6)]
    for number in (1, 3):
        del rows[2][number]
    assert pooled(rows) == [0, 1, 3, 4, 5]


def test_one_lost_round_of_many_costs_no_row_its_rank() -> None:
    rows = [by_round([100.0 + row] * 15) for row in range(6)]
    del rows[2][7]
    assert pooled(rows) == list(range(6))


def test_a_round_that_all_rows_lost_costs_no_row_its_rank() -> None:
    rows = [dict.fromkeys((0, 1, 3, 4), 100.0) for _ in range(6)]
    assert pooled(rows) == list(range(6))


def test_rows_that_failed_in_different_rounds_do_not_cost_others_rounds() -> None:
    rows = [by_round([100.0 + row] * 5) for row in range(6)]
    rows[0] = dict.fromkeys((0, 1, 2), 100.0)
    rows[1] = dict.fromkeys((2, 3, 4), 100.0)
    assert pooled(rows) == [2, 3, 4, 5]


def test_without_pooling_every_row_is_kept() -> None:
    assert pooled([by_round([100.0] * 2)] * 5) == list(range(5))
    assert pooled([by_round([100.0] * 5), by_round([100.0] * 3), by_round([100.0] * 5)]) == [0, 1, 2], "pairs have rounds of their own"
    assert pooled([]) == []


def test_row_noise_is_estimated_despite_drift() -> None:
    random = np.random.default_rng(2)
    truth = np.array([0.01, 0.02, 0.05, 0.05, 0.2])
    drift = random.normal(0, 0.3, (1, 20_000))
    assert np.sqrt(noise_of_rows(random.normal(0, 1, (5, 20_000)) * truth[:, None] + drift)) == pytest.approx(truth, rel=0.3)


def test_rounds_needed_to_separate_rows() -> None:
    rows = [
        by_round([100.0, 200.0, 130.0]),
        by_round([180.0, 120.0, 150.0]),
        by_round([130.0, 130.0, 200.0]),
        by_round([320.0, 190.0, 210.0]),
    ]
    assert set(ranks(rows)) == {(1, 4)}, "three rounds must not tell, or there is nothing to ask"
    enough = AllPairs(rows).rounds_to_rank(range(4))
    assert enough is not None
    assert 3 < enough <= 20
    longer = [{number: row[number % 3] for number in range(3 * -(-enough // 3))} for row in rows]
    assert set(ranks(longer)) != {(1, 4)}


def test_rounds_do_not_separate_bounds_or_rows_without_rank() -> None:
    steps = AllPairs([by_round([factor * rps for rps in (100.0, 101.0, 99.0)]) for factor in (4, 3, 2)])
    assert steps.rounds_to_rank(range(3), range(3)) is None
    assert steps.rounds_to_rank([0], []) is None
    assert steps.rounds_to_rank(range(3), [0, 1]) is not None


def test_no_number_of_rounds_separates_equal_rows() -> None:
    assert AllPairs([by_round([100, 101, 99]), by_round([101, 100, 99])]).rounds_to_rank(range(2)) is None
    assert AllPairs([by_round([100, 101])]).rounds_to_rank(range(1)) is None
    assert AllPairs([by_round([100.0] * 3)] * 5).rounds_to_rank(range(5)) is None
