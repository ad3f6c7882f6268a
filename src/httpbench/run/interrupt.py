"""Ends a run on SIGTERM, with all that was measured kept and shown."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """SIGTERM or SIGHUP arrived; it ends a run in the same way as Ctrl-C."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Turns SIGTERM and SIGHUP, the end of a terminal, into :class:`Interrupted`."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, interrupt) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
