"""Handle signals that end a run. They are delayed while a trial is being stored, so that no measurement is lost."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NUMBERS = (signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """The exception that SIGTERM and SIGHUP raise. It ends a run in the same way as Ctrl-C."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn the first SIGTERM, or SIGHUP from a closing terminal, into :class:`Interrupted`.

    Later signals are ignored until the program ends, because a closing terminal sends several signals and results must still be
    stored. A signal that was already ignored, as with ``nohup``, stays ignored.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted

    before = {number: handler for number in NUMBERS if (handler := signal.getsignal(number)) is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is interrupt:
                signal.signal(number, handler)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C, SIGTERM and SIGHUP until the block has ended. Works only in the main thread."""
    arrived: list[int] = []
    before = {number: signal.signal(number, lambda number, _: arrived.append(number)) for number in (signal.SIGINT, *NUMBERS)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for first in arrived[:1]:
            signal.raise_signal(first)
