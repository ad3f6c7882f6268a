"""Tests of properties of a composite score."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.stats.composite import WEIGHTS, composite

TESTS = ("json", "db", "fortune")
Figures = dict[str, dict[str, dict[int, float]]]
RPS = st.floats(1, 1e6)


@st.composite
def figures(draw: st.DrawFn) -> Figures:
    targets, rounds = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    return {f"t/{target}": {test: {number: draw(RPS) for number in range(rounds)} for test in TESTS} for target in range(targets)}


def percents(given_figures: Figures) -> dict[str, float]:
    found = composite(given_figures)
    assert found is not None
    return {score.target: score.percent for score in found.scores}


def times(factor: float, given_figures: Figures, target: str | None = None, test: str | None = None) -> Figures:
    """Return the results with those of one target, those of one test, or all of them multiplied by a factor."""
    return {
        name: {
            each: {number: rps * (factor if target in (None, name) and test in (None, each) else 1) for number, rps in rounds.items()}
            for each, rounds in of_target.items()
        }
        for name, of_target in given_figures.items()
    }


@given(figures(), st.sampled_from(TESTS), st.sampled_from([0.001, 3.0, 1024.0]))
def test_cheaper_requests_do_not_weigh_more(found: Figures, test: str, factor: float) -> None:
    assert percents(times(factor, found, test=test)) == pytest.approx(percents(found))


@given(figures(), st.floats(0.01, 100))
def test_scores_do_not_depend_on_machine_speed(found: Figures, factor: float) -> None:
    assert percents(times(factor, found)) == pytest.approx(percents(found))


@given(figures())
def test_the_best_target_scores_100_percent_in_any_order(found: Figures) -> None:
    scores = percents(found)
    assert max(scores.values()) == pytest.approx(100)
    assert percents(dict(reversed(found.items()))) == pytest.approx(scores)


@given(figures())
def test_equal_targets_score_equally_and_faster_ones_score_higher(found: Figures) -> None:
    first = next(iter(found))
    both = {first: found[first], "t/equal": found[first], "t/faster": times(1.5, found, target=first)[first]}
    scores = percents(both)
    assert scores[first] == pytest.approx(scores["t/equal"])
    assert scores["t/faster"] == pytest.approx(100) and scores[first] == pytest.approx(100 / 1.5)


def test_weights_decide_between_targets_with_opposite_strengths() -> None:
    found = composite({"json": {"json": {0: 2.0}, "fortune": {0: 1.0}}, "fortune": {"json": {0: 1.0}, "fortune": {0: 2.0}}})
    assert found is not None
    assert [score.target for score in found.scores] == ["fortune", "json"]
    assert found.scores[1].percent == pytest.approx(100 * 2 ** ((1.0 - 1.5) / 2.5))
    assert sum(WEIGHTS.values()) == 6


@given(figures(), st.data())
def test_the_order_of_two_targets_does_not_depend_on_a_third(found: Figures, data: st.DataObject) -> None:
    third = {test: {number: data.draw(RPS) for number in rounds} for test, rounds in next(iter(found.values())).items()}
    before, after = percents(found), percents({**found, "t/third": third})
    one, other, *_ = found
    assert after[one] / after[other] == pytest.approx(before[one] / before[other])


def test_a_third_target_with_few_rounds_does_not_reverse_the_order() -> None:
    ours = {"json": {0: 100.0, 1: 120.0, 2: 121.0}, "db": {0: 100.0, 1: 120.0, 2: 121.0}}
    theirs = {"json": {0: 101.0, 1: 100.0, 2: 100.0}, "db": {0: 101.0, 1: 100.0, 2: 100.0}}
    before, after = percents({"a": ours, "b": theirs}), percents({"a": ours, "b": theirs, "c": {"json": {0: 10.0}, "db": {0: 10.0}}})
    assert after == {**before, "c": after["c"]}
    assert before["a"] == pytest.approx(100) and before["b"] < 90


def test_a_bound_may_raise_its_own_score_and_lower_the_scores_of_others() -> None:
    best, half = ({test: {0: rps} for test in TESTS} for rps in (2.0, 1.0))
    found = composite({"best": best, "x": half, "y": half}, bounds={"best", "x"})
    assert found is not None
    assert {score.target: (score.may_be_lower, score.may_be_higher) for score in found.scores} == {
        "best": (False, True),
        "x": (True, True),
        "y": (True, False),
    }
    assert {score.target: score.is_lower_bound for score in found.scores} == {"best": True, "x": True, "y": False}


def test_scores_on_shared_cores_have_no_interval_and_may_be_lower() -> None:
    rounds = {0: 1.0, 1: 1.1, 2: 0.9}
    found = composite({"a": dict.fromkeys(TESTS, rounds), "b": dict.fromkeys(TESTS, dict.fromkeys(rounds, 0.5))}, shared=True)
    assert found is not None
    best, other = found.scores
    assert (best.may_be_lower, other.may_be_lower, other.interval) == (False, True, None)


def test_a_target_without_one_of_the_tests_has_no_score() -> None:
    whole = {test: {0: 1.0} for test in TESTS}
    found = composite({"a": whole, "b": whole, "c": {"json": {0: 9.0}}})
    assert found is not None
    assert ({score.target for score in found.scores}, found.left_out, found.tests) == ({"a", "b"}, ("c",), ("json", "db", "fortune"))


@pytest.mark.parametrize(
    "few",
    [{}, {"a": {"json": {0: 1.0}, "db": {0: 1.0}}}, {"a": {"json": {0: 1.0}}, "b": {"json": {0: 2.0}}}, {"a": {"other": {0: 1.0}}}],
)
def test_too_few_tests_or_targets_have_no_scores(few: Figures) -> None:
    assert composite(few) is None


def test_intervals_use_common_rounds_and_scores_use_all_rounds() -> None:
    rounds = {0: 1.0, 1: 1.1, 2: 0.9, 3: 1.0}
    half = {number: 0.5 * rps for number, rps in rounds.items() if number != 3}
    found = composite({"a": dict.fromkeys(TESTS, rounds), "b": dict.fromkeys(TESTS, half)})
    assert found is not None
    best, other = found.scores
    assert (round(best.percent, 9), best.interval, best.rounds, other.rounds) == (100, None, 4, 3)
    assert other.percent == pytest.approx(50, rel=0.01)
    assert other.interval is not None
    assert other.interval.low == pytest.approx(other.percent) == other.interval.high
