"""Tests that httpbench detects whether a server's responses depend on the request itself, on its length, or on its position."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.probe.canned import UNEXPLAINED, ProbeOutcome, Variation, other_cause

KNOWN, UNKNOWN = ("GET /", "GET /unknown")

CELLS = [(KNOWN, 0), (KNOWN, 60), (UNKNOWN, 20), (UNKNOWN, 60)]


def outcomes(respond: Callable[[str, int, int], str], seed: int) -> list[ProbeOutcome]:
    """Return the outcomes of twelve requests in random order. ``respond`` gets path, length and position."""
    order = CELLS * 3
    random.Random(seed).shuffle(order)
    requests = [(path, Variation(f"{path:{40 + length}}".encode(), known=path == KNOWN)) for path, length in order]
    return [ProbeOutcome(request, respond(path, len(request.data), position)) for position, (path, request) in enumerate(requests)]


@given(st.integers(0, 2**32))
def test_honest_responses_are_explained_by_the_request(seed: int) -> None:
    assert other_cause(outcomes(lambda path, length, position: "200" if path == KNOWN else "404", seed)) is None
    assert other_cause(outcomes(lambda path, length, position: "200", seed)) is None


@pytest.mark.parametrize("limit", [41, 65])
@given(seed=st.integers(0, 2**32))
def test_responses_by_length_are_detected_in_any_order(limit: int, seed: int) -> None:
    found = other_cause(outcomes(lambda path, length, position: "200" if length < limit else "404", seed))
    assert found is not None
    assert "length" in found


@given(st.integers(0, 2**32))
def test_responses_by_position_are_detected_except_in_rare_orders(seed: int) -> None:
    """The server alternates between two responses. If known and unknown paths happen to alternate, too, the cheat can't be detected."""
    seen = outcomes(lambda path, length, position: "404" if position % 2 else "200", seed)
    alternates = len({(outcome.request.known, outcome.kind) for outcome in seen}) == 2
    found = other_cause(seen)
    assert alternates == (found is None)
    assert found is None or "position" in found or "length" in found


def test_unexplained_responses_do_not_count_against_a_server() -> None:
    def padded(path: str, length: int, position: int) -> str:
        return "400" if length == 100 and path == KNOWN else "200" if path == KNOWN else "404"

    assert other_cause(outcomes(padded, 1)) is UNEXPLAINED
