"""Test that only the last of several attempts at a trial counts."""

from __future__ import annotations

from httpbench.stats.summary import last_attempts
from tests.factories import make_disturbed, make_plan, make_trial


def test_only_the_last_attempt_of_each_round_counts() -> None:
    first, again = make_disturbed(make_plan("a/a")), make_trial(make_plan("a/a", attempt=1, number=9))
    other, later = make_trial(make_plan("b/b")), make_trial(make_plan("a/a", round_=1))
    assert last_attempts([first, other, later, again]) == [again, other, later]
    assert last_attempts([again, first]) == [again]
