"""Tests of the signals that end a run."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from httpbench.run.interrupt import NUMBERS, Interrupted, interruptible, uninterrupted


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in NUMBERS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", NUMBERS)
def test_only_the_first_signal_ends_a_run(number: signal.Signals) -> None:
    with interruptible():
        with pytest.raises(Interrupted):
            signal.raise_signal(number)
        for later in NUMBERS:
            signal.raise_signal(later)
    for later in NUMBERS:  # while results are printed and exported
        signal.raise_signal(later)


def test_an_ignored_signal_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    with interruptible():
        signal.raise_signal(signal.SIGHUP)
        with pytest.raises(Interrupted):
            signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_handlers_are_restored_after_an_uninterrupted_run() -> None:
    before = [signal.getsignal(number) for number in NUMBERS]
    with interruptible():
        assert [signal.getsignal(number) for number in NUMBERS] != before
    assert [signal.getsignal(number) for number in NUMBERS] == before


@pytest.mark.parametrize(("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Interrupted)])
def test_a_signal_waits_until_a_trial_is_committed(number: signal.Signals, error: type[BaseException]) -> None:
    committed = False
    with interruptible(), pytest.raises(error), uninterrupted():
        signal.raise_signal(number)
        committed = True
    assert committed
