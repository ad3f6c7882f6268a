"""The order of the targets in each cycle."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def cycles(members: Sequence[T], seed: int) -> Iterator[list[T]]:
    """Yield the order of the targets for one cycle after another, endlessly.

    Every second cycle reverses the order of the previous cycle, as in A B B A. A linear drift of the machine over both cycles then affects
    all targets alike, and each pair of neighbors occurs equally often in both directions. Each pair of cycles starts with a new random
    order, so that no target always follows the same other target.
    """
    randomly = random.Random(seed)
    while True:
        order = list(members)
        randomly.shuffle(order)
        yield order
        yield order[::-1]
