"""Tests of measured starts.

A server that sleeps for a known time before it listens reports its own times. The measured times must equal them within 0.3 ms. A noisy
machine only delays, so the lower quartile of several starts is judged, and starts that are measured as too short lower it. Only starts
that other programs didn't disturb count. If there are too few of them, the test is skipped.
"""

from __future__ import annotations

import json
import shlex
import statistics
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest

from tests.harness import MISBEHAVING_SERVER, TARGETS, Harness

STARTS = 7
STARTS_OPTIONS = ("--rounds", str(STARTS), "--retries", "2")
STARTS_MIN = 4
"""Minimum number of undisturbed starts."""
ERROR_MS_MAX = 0.3
COMMAND = f"{MISBEHAVING_SERVER} {{host}} {{port}}"


@dataclass(frozen=True, slots=True)
class Start:
    """One start as httpbench measured it, and as the server reported it."""

    ready_ms: float
    own_ms: float
    """Time from the beginning of the server's program until it had sent its first response."""
    executing_ms: float
    """Time from an execution of the server's program until the program began."""
    slept_ms: float
    """Time from then until the server listened."""

    @classmethod
    def of(cls, round_: dict[str, Any]) -> Start:
        (times,) = [value for name, value in round_["response"]["headers"] if name == "Own-Times"]
        began, again, listened, responded = (int(word) / 1e6 for word in times.split())
        return cls(round_["startup"]["ready_s"] * 1000, responded - began, again - began, listened - again)

    @property
    def error_ms(self) -> float:
        """The measured time minus the true time."""
        return self.ready_ms - (self.executing_ms + self.own_ms)


def undisturbed(rounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rounds in which neither another program nor a stall was noticed."""
    return [each for each in rounds if each["verdict"]["kind"] not in ("disturbed", "invalid", "failed")]


def lower_quartile(values: list[float]) -> float:
    """Return the lower quartile of undisturbed values. Skip the test if there are too few of them."""
    if len(values) < STARTS_MIN:
        pytest.skip(f"other programs disturbed all but {len(values)} starts, and their repetitions")
    return statistics.quantiles(values, n=4)[0]


def measured(harness: Harness, *words: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rounds of targets whose start-up was measured, by target."""
    done = harness.run("bench", "--targets", str(TARGETS), *words, "--startup", "--rest", "0ms", "--export-json", "-", timeout_s=280)
    assert done.stdout, done.stderr
    return {result["target"]: result["rounds"] for result in json.loads(done.stdout)["results"]}


def run(harness: Harness, *words: str) -> subprocess.CompletedProcess[str]:
    return harness.run("run", *words, "--startup", "-c", "4", "-d", "200ms", "--rest", "100ms", "--timeout", "5s")


@pytest.mark.alone
def test_the_time_until_a_server_is_ready_is_true(harness: Harness) -> None:
    sleeps_ms = {f"test/starting/{sleep_ms}ms": sleep_ms for sleep_ms in (0, 5, 50, 500)}
    errors_ms = {}
    for target, rounds in measured(harness, *sleeps_ms, *STARTS_OPTIONS, "-c", "2", "-d", "300ms").items():
        starts = [Start.of(each) for each in undisturbed(rounds)]
        assert all(start.slept_ms >= sleeps_ms[target] for start in starts), "the server didn't sleep"
        errors_ms[target] = lower_quartile([start.error_ms for start in starts])
    assert set(errors_ms) == set(sleeps_ms)
    assert all(abs(error_ms) <= ERROR_MS_MAX for error_ms in errors_ms.values()), errors_ms


@pytest.mark.alone
def test_the_time_until_throughput_is_steady_is_true(harness: Harness) -> None:
    """A steady state takes at least 1.5 s to detect."""
    bounds_s = {"test/starting/0ms": (0.1, 0.3), "test/starting/slow-for-700ms": (0.7, 1.0)}
    found = measured(harness, *bounds_s, *STARTS_OPTIONS, "--rounds", "5", "-c", "4", "-d", "2300ms")
    for target, (low_s, high_s) in bounds_s.items():
        times_s = [steady_s for each in undisturbed(found[target]) if (steady_s := each["startup"]["steady_s"]) is not None]
        assert low_s <= lower_quartile(times_s) <= high_s, (target, times_s)


@pytest.mark.slow
def test_a_gate_finds_a_server_that_starts_more_slowly(harness: Harness) -> None:
    sleeping = f"sh -c {shlex.quote(f'sleep 1; exec {COMMAND} good')}"
    servers = (f"{COMMAND} good", sleeping, "--name", "old", "--name", "new")
    # At a low rate, a busy machine makes no trial invalid.
    done = run(harness, *servers, "--rate", "100", "--rounds", "3", "--fail-if", "ready>50%", "--fail-if", "memory-ready>50%")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "the start-up time of new is " in done.stdout
    assert "BREACHED ready>+50%: new against old" in done.stdout
    assert "PASSED memory-ready>+50%: new against old" in done.stdout


def test_every_result_of_a_start_is_stored(harness: Harness) -> None:
    (rounds,) = measured(harness, "test/starting/5ms", "--rounds", "2", "-c", "4", "--rate", "500", "-d", "2s").values()
    assert len(rounds) == 2
    for each in rounds:
        startup = each["startup"]
        assert startup["ready_s"] > 0.005 and 0 < startup["first_us"] < startup["ready_s"] * 1e6
        assert 0 < startup["rss_bytes_ready"] <= each["target_usage"]["rss_bytes_peak"] * 1.1
        assert startup["rss_bytes_rest"] > 0
        assert startup["installed_bytes"] > 100_000, "a program that is linked statically"
        assert len(each["measurement"]["intervals"]) == 20, "windows of 0.1 s"
    again = harness.run("report", "latest", "--wide", "--explain")
    assert "start-up · target on one core" in again.stdout and "Memory after" in again.stdout


def test_several_copies_are_ready_when_the_first_responds(harness: Harness) -> None:
    (rounds,) = measured(harness, "c/epoll/level", "--workers", "2", "--rounds", "1", "-c", "4", "-d", "200ms").values()
    assert rounds[0]["commands"]["copies"] == 2
    assert rounds[0]["startup"]["ready_s"] > 0


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("exits", "ended before it responded (exit code 1)"),
        ("never-listens", "did not respond correctly within 1 s: could not be reached: Connection refused"),
        ("never-answers", "did not respond correctly within 1 s: "),
    ],
)
def test_a_server_that_does_not_start_fails_with_a_reason(harness: Harness, mode: str, reason: str) -> None:
    done = run(harness, f"{COMMAND} {mode}", "--rounds", "1", "--start-timeout", "1s", "--explain")
    assert done.returncode == 1
    assert reason in " ".join(done.stdout.split()), done.stdout


def test_a_program_that_is_missing_is_reported(harness: Harness) -> None:
    done = run(harness, "./no-such-server {port}", "--rounds", "1", "--prepare", "true")
    assert done.returncode == 1
    assert "cannot start ./no-such-server: No such file or directory" in done.stdout


def test_a_server_with_tls_is_measured(harness: Harness) -> None:
    (rounds,) = measured(harness, "c/nginx", "--tls", "--rounds", "1", "-c", "2", "-d", "200ms").values()
    assert rounds[0]["startup"]["ready_s"] * 1e6 > rounds[0]["startup"]["first_us"] > 0
