"""Tests that a run with a required precision ends only between rounds, and warns early if it probably won't reach the precision."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import Mock

import pytest

from httpbench.model import Precision, Trial
from httpbench.run.observer import Observer
from httpbench.run.rounds.precision import is_enough
from tests.factories import make_plan, make_rounds

OLD, NEW = "c/old", "c/new"
STEADY = (100_000, 100_100, 99_900)
LOOSE = (100_000, 103_000, 97_000)


def made(new: Sequence[float]) -> list[Trial]:
    """Return three rounds of a server and a new version."""
    return sorted([*make_rounds(OLD, STEADY), *make_rounds(NEW, new)], key=lambda trial: trial.plan.round)


def asked(half_width: float) -> Precision:
    return Precision(rounds_min=3, rounds_max=9, half_width=half_width)


@pytest.mark.parametrize(("new", "enough"), [(STEADY, True), (LOOSE, False)])
def test_a_run_ends_when_its_interval_is_narrow_enough(new: tuple[int, ...], enough: bool) -> None:
    assert is_enough(asked(0.05), OLD, make_plan(OLD, round_=3), made(new), Mock(Observer)) is enough


def test_a_run_ends_only_between_rounds_and_after_the_minimum() -> None:
    observer = Mock(Observer)
    assert not is_enough(asked(0.05), OLD, make_plan(NEW, round_=2), made(STEADY), observer)
    assert not is_enough(asked(0.05), OLD, make_plan(OLD, round_=2), made(STEADY)[:4], observer)


@pytest.mark.parametrize(
    ("half_width", "words"),
    [
        (0.02, "± 2.0% would take about 23 rounds; the run ends after 9; hint: longer trials (-d) may require fewer rounds"),
        (0.001, "± 0.1% would take more rounds than practical; the run ends after 9; hint: longer trials (-d) may require fewer rounds"),
    ],
)
def test_a_warning_says_that_there_are_too_few_rounds(half_width: float, words: str) -> None:
    observer = Mock(Observer)
    is_enough(asked(half_width), OLD, make_plan(OLD, round_=3), made(LOOSE), observer)
    observer.warning.assert_called_once()
    assert observer.warning.call_args.args[0].endswith(words)


def test_there_is_no_warning_if_the_rounds_probably_suffice() -> None:
    observer = Mock(Observer)
    is_enough(asked(0.05), OLD, make_plan(OLD, round_=3), made(LOOSE), observer)
    observer.warning.assert_not_called()
