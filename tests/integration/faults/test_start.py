"""Tests of targets that start incorrectly or fail later."""

from __future__ import annotations

from tests.integration.faults.fault import GOOD, Fault


def fails(fault: Fault, mode: str, *words: str) -> None:
    """Check that the trial of a target in this mode fails or is invalid, and that the good target in the same run is still measured."""
    fault.holds(fault.bench(f"test/misbehaving/{mode}", *words), trials=2)
    assert fault.verdicts(f"test/misbehaving/{mode}")[0] in ("failed", "invalid")
    assert fault.verdicts(GOOD) != ["failed"]


def test_never_ready(fault: Fault) -> None:
    fails(fault, "never-listens", "--start-timeout", "1s")


def test_wrong_body(fault: Fault) -> None:
    fails(fault, "wrong-body")


def test_correct_then_wrong(fault: Fault) -> None:
    fails(fault, "turns-500", "--warmup", "0s", "--interleave", "rounds")


def test_slow_then_dead(fault: Fault) -> None:
    fails(fault, "slows-and-dies", "-d", "2s", "--timeout", "2s")


def test_dies_at_start(fault: Fault) -> None:
    fails(fault, "exits")


def test_dies_in_warm_up(fault: Fault) -> None:
    fails(fault, "dies", "--warmup", "200ms", "--warmup-max", "2s")


def test_dies_in_the_window(fault: Fault) -> None:
    fails(fault, "dies", "--warmup", "0s")


def test_setsid(fault: Fault) -> None:
    fails(fault, "setsid")


def test_double_fork(fault: Fault) -> None:
    fails(fault, "double-fork")
