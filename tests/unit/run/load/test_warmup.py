"""Tests of when a warm-up ends. The load generator is a real process, but immediately reports the rates that a test specifies."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from httpbench import load
from httpbench.errors import LoadError
from httpbench.load import Job, Phase, Progress
from httpbench.load.native import Native
from httpbench.model import Load, Settling, Workload
from httpbench.run.load.warmup import warm_up_until_steady

REPORT_RATES = """
import json, sys, time
for number, rate in enumerate([None, *json.loads(sys.argv[1])]):
    event = {"event": "progress", "phase": "measure", "elapsed_s": number / 10, "throughput_rps": rate}
    print(json.dumps(event), file=sys.stderr, flush=True)
time.sleep(float(sys.argv[2]))
"""


class FakeGenerator(Native):
    """A load generator that reports these rates, and then continues for a while."""

    def __init__(self, rates: Sequence[float], stays_s: object):
        self._argv = (sys.executable, "-c", REPORT_RATES, json.dumps(list(rates)), str(stays_s))

    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        self.job = job
        return self._argv


def warm_up(monkeypatch: pytest.MonkeyPatch, folder: Path, generator: FakeGenerator, dies: bool = False) -> tuple[Settling, list[Progress]]:
    monkeypatch.setattr(load, "get", lambda _: generator)
    full_load = Load(warmup_s=2, warmup_max_s=60, rate_rps=500, rate_from_rps=100, rate_step_rps=100, step_s=1)
    reported: list[Progress] = []
    job = Job("http://127.0.0.1:1/", Workload(name="x", description="x"), full_load, (), folder)
    return warm_up_until_steady(job, lambda: "exit code 1" if dies else None, reported.append), reported


def test_a_warm_up_ends_once_throughput_is_steady(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    generator = FakeGenerator([10.0 * i for i in range(10)] + [100.0] * 60, stays_s=600)
    settling, reported = warm_up(monkeypatch, tmp_path, generator)
    assert settling.is_steady
    assert settling.duration_s == pytest.approx(0.1 * len(settling.throughput_rps))
    assert {progress.phase for progress in reported} == {Phase.WARMUP}
    load = generator.job.load
    assert (load.duration_s, load.warmup_s, load.rate_rps, load.step_s) == (58, 0, 100, None)


def test_the_warm_up_of_an_overload_offers_half_of_the_peak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = FakeGenerator([100.0] * 60, stays_s=600)
    monkeypatch.setattr(load, "get", lambda _: generator)
    overload = Load(warmup_s=0, warmup_max_s=60, rate_rps=300, share_of_peak=1.5, peak_of="a/a")
    job = Job("http://127.0.0.1:1/", Workload(name="x", description="x"), overload, (), tmp_path)
    assert warm_up_until_steady(job, lambda: None, lambda _: None).is_steady
    assert generator.job.load.rate_rps == 100


def test_a_rate_rising_to_the_end_is_not_steady_and_its_series_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rising = [100.0 * i for i in range(1, 51)]
    settling, _ = warm_up(monkeypatch, tmp_path, FakeGenerator(rising, stays_s=0))
    assert (settling.is_steady, settling.throughput_rps) == (False, tuple(rising))


def test_a_failed_generator_is_reported_with_its_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="native ended with exit code 1 during the warm-up") as caught:
        warm_up(monkeypatch, tmp_path, FakeGenerator([1.0], stays_s="as long as it likes"))
    assert "could not convert string to float" in (caught.value.log_tail or "")


def test_a_warm_up_stops_if_the_target_dies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settling, _ = warm_up(monkeypatch, tmp_path, FakeGenerator([], stays_s=600), dies=True)
    assert (settling.is_steady, settling.throughput_rps) == (False, ())
