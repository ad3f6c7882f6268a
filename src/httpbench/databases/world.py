"""The rows of the table World before any update, as the scripts ``tables.sql`` create them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

ROWS = 10_000


def number_of(row_id: int) -> int:
    """Return the random number in the row with this id: 1 plus a hash of the id, modulo 10,000."""
    digest = hashlib.md5(f"httpbench {row_id}".encode(), usedforsecurity=False).hexdigest()
    return 1 + int(digest[:8], 16) % ROWS


def numbers_problem(rows: Iterable[tuple[int, int]]) -> str | None:
    """Return a problem if a row, given as its id and number, isn't in the table, or ``None``."""
    wrong = [(row_id, number) for row_id, number in rows if number != number_of(row_id)]
    if not wrong:
        return None
    row_id, number = wrong[0]
    return f"{len(wrong)} of the rows are not in the table, such as {row_id:,} with the number {number:,} instead of {number_of(row_id):,}"
