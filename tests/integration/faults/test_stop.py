"""Tests of targets that don't stop cleanly. Their results still count."""

from __future__ import annotations

import pytest

from tests.integration.faults.fault import Fault, Run


def target(mode: str) -> str:
    return f"test/misbehaving/{mode}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    modes = ("dies-at-stop", "ignores-sigterm", "leaves-children")
    return Run.of(tmp_path_factory.mktemp("stop"), *map(target, modes))


def keeps_its_figures(fault: Fault, run: Run, mode: str, trials: int = 4) -> None:
    in_run = fault.in_run(run)
    in_run.holds(run.end, trials=trials)
    (trial,) = in_run.trials_of(target(mode))
    assert trial["verdict"]["kind"] != "failed"
    assert trial["measurement"]
    # A busy machine may invalidate such a short trial, but the way the target stopped must not.
    assert trial["verdict"]["kind"] != "invalid" or len(trial["verdict"]["reasons"]) > 1


def test_dies_at_the_stop(fault: Fault, run: Run) -> None:
    keeps_its_figures(fault, run, "dies-at-stop")


def test_ignores_sigterm(fault: Fault, run: Run) -> None:
    keeps_its_figures(fault, run, "ignores-sigterm")


def test_leaves_children(fault: Fault, run: Run) -> None:
    keeps_its_figures(fault, run, "leaves-children")


@pytest.mark.slow
def test_fills_its_log(fault: Fault) -> None:
    keeps_its_figures(fault, Run.of(fault.home, target("logs"), "-d", "1s"), "logs", trials=2)
