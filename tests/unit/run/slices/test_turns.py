"""Tests of the turns: which slices are repeated, and how long the harness waits for a busy machine."""

from __future__ import annotations

from typing import Any, cast

import pytest

from httpbench.model import Load
from httpbench.run.observer import Observer
from httpbench.run.slices import round as turns
from httpbench.run.slices.member import Member
from tests.factories import make_plan

SLICES = 4
SLICE_S = 0.25
BUSY_S = 1.0


class Clock:
    """A clock that advances only during slices and waits."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.busy_s = BUSY_S
        self.waited_s: list[float] = []

    def wait(self, cpus: object, limit_s: float) -> bool:
        self.waited_s.append(min(self.busy_s, limit_s))
        self.now_s += self.waited_s[-1]
        return self.busy_s <= limit_s


class Fake:
    """A fake target. ``disturbed`` contains the numbers of its slices that other programs disturb."""

    takes_turns = True
    last_report = None

    def __init__(self, clock: Clock, disturbed: range | tuple[int, ...] = ()):
        self.plan = make_plan("a/a", load=Load(duration_s=SLICES * SLICE_S)).model_copy(update={"slices": SLICES})
        self._clock, self._disturbed = clock, disturbed
        self.turns = self.kept = self.dropped = 0

    @property
    def was_disturbed(self) -> bool:
        return self.turns - 1 in self._disturbed

    def take_turn(self) -> None:
        self.turns += 1
        self._clock.now_s += SLICE_S

    def keep(self) -> None:
        self.kept += 1

    def drop(self) -> None:
        self.dropped += 1


class Silent:
    def turn(self, *_: Any) -> None:
        pass


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("httpbench.run.slices.round.time.monotonic", lambda: found.now_s)
    monkeypatch.setattr(turns, "wait_until_quiet", found.wait)
    return found


def take_turns(*members: Fake, accepts_disturbed: bool = False) -> None:
    turns._take_turns(cast("list[Member]", members), cast("Observer", Silent()), accepts_disturbed=accepts_disturbed)


def test_a_quiet_machine_needs_no_more_than_the_planned_slices(clock: Clock) -> None:
    members = [Fake(clock), Fake(clock), Fake(clock)]
    take_turns(*members)
    assert [(each.turns, each.kept, each.dropped) for each in members] == [(SLICES, SLICES, 0)] * 3
    assert not clock.waited_s


def test_a_disturbed_slice_is_repeated_when_the_machine_is_quiet(clock: Clock) -> None:
    members = [Fake(clock), Fake(clock, disturbed=(1,))]
    take_turns(*members)
    assert [(each.turns, each.kept, each.dropped) for each in members] == [(SLICES, SLICES, 0), (SLICES + 1, SLICES, 1)]
    assert clock.waited_s == [BUSY_S]


def test_repeating_in_vain_ends(clock: Clock) -> None:
    """Other virtual machines can steal time from every slice, although the cores look idle between slices."""
    clock.busy_s = 0.04
    members = [Fake(clock, disturbed=range(1000)), Fake(clock, disturbed=range(1000))]
    take_turns(*members)
    assert [each.kept for each in members] == [SLICES, SLICES]
    assert sum(each.dropped for each in members) == turns.REPEATS_MIN


def test_bursts_that_never_end_cost_a_limited_time(clock: Clock) -> None:
    """Every second slice is disturbed, so its repetition isn't."""
    members = [Fake(clock, disturbed=range(0, 1000, 2)), Fake(clock, disturbed=range(0, 1000, 2))]
    take_turns(*members)
    assert [each.kept for each in members] == [SLICES, SLICES]
    assert all(each.dropped > 1 for each in members)
    windows_s = len(members) * SLICES * SLICE_S
    assert clock.now_s <= turns.BURST_S_MAX + (1 + turns.LOST_SHARE_MAX) * windows_s + SLICE_S


def test_a_machine_that_is_never_quiet_is_waited_for_once(clock: Clock) -> None:
    clock.busy_s = 1000
    members = [Fake(clock, disturbed=range(1000)) for _ in range(4)]
    take_turns(*members)
    assert [each.kept for each in members] == [SLICES] * 4
    assert clock.waited_s == [turns.BURST_S_MAX]


def test_without_retries_every_slice_counts(clock: Clock) -> None:
    members = [Fake(clock, disturbed=range(1000)), Fake(clock)]
    take_turns(*members, accepts_disturbed=True)
    assert [(each.kept, each.dropped) for each in members] == [(SLICES, 0)] * 2
