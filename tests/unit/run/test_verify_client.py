"""Tests of the clauses about a client."""

from __future__ import annotations

import pytest

from httpbench.run.client.verify import _first_line


@pytest.mark.parametrize(
    ("printed", "shown"), [("", ""), ("10 100\n", "10 100"), ("starting\nGET /\n10 100\n", "starting … (3 lines)"), ("\n\n0 0\n", "0 0")]
)
def test_a_clause_shows_one_line_of_the_clients_output(printed: str, shown: str) -> None:
    assert _first_line(printed) == shown
