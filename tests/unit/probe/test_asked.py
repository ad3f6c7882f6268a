"""What explains a server's answers: the question, its length, or its place."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.probe.asked import UNEXPLAINED, Question, Reply, not_by_question

KNOWN, UNKNOWN = ("GET /", "GET /unknown")

CELLS = [(KNOWN, 0), (KNOWN, 60), (UNKNOWN, 20), (UNKNOWN, 60)]


def replies(answer: Callable[[str, int, int], str], seed: int) -> list[Reply]:
    """Twelve questions in random order, answered by path, length and place."""
    asked = CELLS * 3
    random.Random(seed).shuffle(asked)
    questions = [(path, Question(f"{path:{40 + length}}".encode(), known=path == KNOWN)) for path, length in asked]
    return [Reply(question, answer(path, len(question.data), place)) for place, (path, question) in enumerate(questions)]


@given(st.integers(0, 2**32))
def test_honest_answers_are_explained_by_the_question(seed: int) -> None:
    assert not_by_question(replies(lambda path, length, place: "200" if path == KNOWN else "404", seed)) is None
    assert not_by_question(replies(lambda path, length, place: "200", seed)) is None


@pytest.mark.parametrize("limit", [41, 65])
@given(seed=st.integers(0, 2**32))
def test_answers_by_length_are_found_in_any_order(limit: int, seed: int) -> None:
    found = not_by_question(replies(lambda path, length, place: "200" if length < limit else "404", seed))
    assert found is not None
    assert "length" in found


@given(st.integers(0, 2**32))
def test_answers_by_place_are_found_but_for_rare_orders(seed: int) -> None:
    """A place where known and unknown paths happen to alternate as the answers do tells nothing."""
    answered = replies(lambda path, length, place: "404" if place % 2 else "200", seed)
    alternates = len({(reply.question.known, reply.kind) for reply in answered}) == 2
    found = not_by_question(answered)
    assert alternates == (found is None)
    assert found is None or "place" in found or "length" in found


def test_what_none_of_them_explains_is_not_held_against_a_server() -> None:
    def padded(path: str, length: int, place: int) -> str:
        return "400" if length == 100 and path == KNOWN else "200" if path == KNOWN else "404"

    assert not_by_question(replies(padded, 1)) is UNEXPLAINED
