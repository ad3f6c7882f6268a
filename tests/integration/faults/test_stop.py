"""Tests of targets that don't stop cleanly. Their results still count."""

from __future__ import annotations

import pytest

from tests.integration.faults.fault import Fault


def keeps_its_figures(fault: Fault, mode: str, *words: str) -> None:
    target = f"test/misbehaving/{mode}"
    fault.holds(fault.bench(target, *words), trials=2)
    for trial in fault.trials_of(target):
        assert trial["verdict"]["kind"] != "failed"
        assert trial["measurement"]
        # A busy machine may invalidate such a short trial, but the way the target stopped must not.
        assert trial["verdict"]["kind"] != "invalid" or len(trial["verdict"]["reasons"]) > 1


def test_dies_at_the_stop(fault: Fault) -> None:
    keeps_its_figures(fault, "dies-at-stop")


def test_ignores_sigterm(fault: Fault) -> None:
    keeps_its_figures(fault, "ignores-sigterm")


def test_leaves_children(fault: Fault) -> None:
    keeps_its_figures(fault, "leaves-children")


@pytest.mark.slow
def test_fills_its_log(fault: Fault) -> None:
    keeps_its_figures(fault, "logs", "-d", "1s")
