"""Tests of targets that start incorrectly or fail later."""

from __future__ import annotations

import pytest

from tests.integration.faults.fault import GOOD, OTHER, Fault, Run

NEVER_START = ("never-listens", "wrong-body", "exits", "setsid", "double-fork")


def target(mode: str) -> str:
    return f"test/misbehaving/{mode}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run all targets that never start correctly, beside two that are measured."""
    words = (*map(target, NEVER_START), OTHER, "--start-timeout", "2s", "--interleave", "slices", "--timeout", "5s")
    return Run.of(tmp_path_factory.mktemp("start"), *words)


def never_starts(fault: Fault, run: Run, mode: str) -> None:
    """Check that the trial of a target in this mode fails for its own reason, and that the good targets in the same run are measured."""
    in_run = fault.in_run(run)
    in_run.holds(run.end, trials=len(NEVER_START) + 2)
    (trial,) = in_run.trials_of(target(mode))
    assert trial["verdict"]["kind"] == "failed"
    assert any(fault.row.pattern.search(reason) for reason in trial["verdict"]["reasons"]), trial["verdict"]
    assert not {*in_run.verdicts(GOOD), *in_run.verdicts(OTHER)} & {"failed", "invalid"}


def test_never_ready(fault: Fault, run: Run) -> None:
    never_starts(fault, run, "never-listens")


def test_wrong_body(fault: Fault, run: Run) -> None:
    never_starts(fault, run, "wrong-body")


def test_dies_at_start(fault: Fault, run: Run) -> None:
    never_starts(fault, run, "exits")


def test_setsid(fault: Fault, run: Run) -> None:
    never_starts(fault, run, "setsid")


def test_double_fork(fault: Fault, run: Run) -> None:
    never_starts(fault, run, "double-fork")


def fails(fault: Fault, mode: str, *words: str) -> None:
    """Check that the trial of a target in this mode fails or is invalid, and that the good target in the same run is still measured."""
    fault.holds(fault.bench(target(mode), *words), trials=2)
    assert fault.verdicts(target(mode))[0] in ("failed", "invalid")
    assert fault.verdicts(GOOD) != ["failed"]


def test_correct_then_wrong(fault: Fault) -> None:
    fails(fault, "turns-500", "--warmup", "0s", "--interleave", "rounds")


def test_slow_then_dead(fault: Fault) -> None:
    """The other target keeps all its slices."""
    fails(fault, "slows-and-dies", "-d", "2s", "--timeout", "2s", "--interleave", "slices")
    (good,) = fault.trials_of(GOOD)
    assert len(good["measurement"]["intervals"]) == 20


def test_dies_in_warm_up(fault: Fault) -> None:
    fails(fault, "dies", "--warmup", "200ms", "--warmup-max", "2s")


def test_dies_in_the_window(fault: Fault) -> None:
    fails(fault, "dies", "--warmup", "0s")
