"""Tests that the error of a clock offset is at most half of the round trip, and that jumps of a clock are detected."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from httpbench.cluster.dask.survey import Offset

MS = 1_000_000
delays = st.integers(0, 50 * MS)


@settings(max_examples=40)
@given(ahead_ns=st.integers(-(10**18), 10**18), trips=st.lists(st.tuples(delays, delays), min_size=1, max_size=8))
def test_the_error_is_at_most_half_of_the_shortest_round_trip(ahead_ns: int, trips: list[tuple[int, int]]) -> None:
    offsets, now_ns = [], 10**15
    for there_ns, back_ns in trips:
        offsets.append(Offset.of(now_ns, now_ns + there_ns + ahead_ns, now_ns + there_ns + back_ns))
        now_ns += there_ns + back_ns + MS
    found = min(offsets, key=lambda offset: offset.round_trip_ns)
    assert found.round_trip_ns == min(there + back for there, back in trips)
    assert abs(found.ahead_ns - ahead_ns) <= found.round_trip_ns / 2 + 1


@settings(max_examples=40)
@given(instant_ns=st.integers(0, 10**18), ahead_ns=st.integers(-(10**18), 10**18))
def test_converting_an_instant_there_and_back_does_not_change_it(instant_ns: int, ahead_ns: int) -> None:
    clock = Offset(ahead_ns, MS)
    assert clock.here(clock.there(instant_ns)) == instant_ns
    assert clock.there(instant_ns) - instant_ns == ahead_ns


def test_a_jump_must_exceed_the_error_of_the_readings() -> None:
    before = Offset(0, 10 * MS)
    assert before.jumped_ms(Offset(14 * MS, 10 * MS)) is None
    assert before.jumped_ms(Offset(-16 * MS, 10 * MS)) == 16.0
