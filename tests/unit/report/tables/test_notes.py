"""Notes below tables: each fact once."""

from __future__ import annotations

from httpbench.report.tables.notes import alike


def test_notes_that_differ_in_their_numbers_alone_become_one_with_ranges() -> None:
    notes = [
        "1,032 requests timed out",
        "wrk does not check bodies",
        "9 requests timed out",
        "stopped after 2.5 s of 3 s",
        "9 requests timed out",
    ]
    assert list(alike(notes)) == ["9 to 1,032 requests timed out", "wrk does not check bodies", "stopped after 2.5 s of 3 s"]
