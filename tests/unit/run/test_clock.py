"""Tests of the wall clock, and of detecting that it was set back."""

from __future__ import annotations

import time

import pytest

from httpbench.run.clock import ClockCheck


def test_a_clock_set_back_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    check = ClockCheck()
    assert check.problem() is None
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 3600)
    assert check.problem() == "the clock was set back by 3,600 s during the run: times of day are wrong, durations are not affected"
