"""Tests that the noise floor has the promised error rate, and uses only pairs that count."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from httpbench.model import Load, Noise, Observed, Request, Verdict, VerdictKind, Workload
from httpbench.stats.noise import floor, noise_of, other_load
from tests.factories import make_failed, make_noise, make_pairs, make_plan

ONE, AGAIN = "c/epoll/edge", "c/epoll/edge-again"


def test_deviation_is_measured_from_zero() -> None:
    found = make_noise([0.02, 0.02, 0.02, 0.02])
    assert found.deviation["throughput_rps"] == pytest.approx(0.02)
    assert (found.rounds, found.target, found.connections, found.duration_s) == (4, ONE, 64, 10)


def test_floor_matches_a_manual_calculation() -> None:
    # t(0.975; 4) = 2.7764; s = 0.01; 4 rounds halve s
    assert floor(make_noise([0.01, -0.01, 0.01, -0.01]), "throughput_rps", 4) == pytest.approx(math.exp(2.7764 * 0.01 / 2) - 1, rel=1e-4)


def test_one_in_twenty_equal_comparisons_exceeds_the_floor() -> None:
    source = np.random.default_rng(20261121)
    above, tries, rounds = 0, 2000, 5
    for _ in range(tries):
        logs = source.normal(0, 0.01, 20)
        deviation = float(np.sqrt((logs**2).mean()))
        known = make_noise([0.0, 0.0, 0.0]).model_copy(update={"rounds": 20, "deviation": {"throughput_rps": deviation}})
        least = floor(known, "throughput_rps", rounds)
        assert least is not None
        above += abs(float(source.normal(0, 0.01, rounds).mean())) > math.log1p(least)
    assert 0.03 < above / tries < 0.07


def test_pairs_with_an_invalid_trial_are_omitted() -> None:
    run, trials = make_pairs([0.01, 0.01, 0.01, 5.0])
    spoilt = trials[-1].model_copy(update={"verdict": Verdict(kind=VerdictKind.INVALID, reasons=("wrong",))})
    found = noise_of(run, [*trials[:-1], spoilt])
    assert found is not None
    assert found.rounds == 3
    assert found.deviation["throughput_rps"] == pytest.approx(0.01)


def test_fewer_than_three_pairs_have_no_noise() -> None:
    assert noise_of(*make_pairs([0.01, 0.01])) is None


def test_a_failed_run_has_no_noise() -> None:
    run, trials = make_pairs([0.01, 0.01, 0.01])
    failed = [make_failed(make_plan(trial.plan.target, round_=trial.plan.round)) for trial in trials]
    assert noise_of(run, failed) is None
    assert noise_of(run, []) is None


def test_a_result_missing_from_all_pairs_has_no_floor() -> None:
    run, trials = make_pairs([0.01, 0.01, 0.01])
    found = noise_of(run, [trial.model_copy(update={"observed": Observed()}) for trial in trials])
    assert found is not None
    assert floor(found, "cpu_us_per_request", 5) is None


PLAINTEXT = Workload(name="plaintext", description="Hello, World!")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"connections": 256}, "connections 64 → 256"),
        ({"threads": None}, "threads 1 → none"),
        ({"pipeline": 16}, "pipeline depth 1 → 16"),
        ({"keepalive": False}, "keep-alive on → off"),
        ({"rate_rps": 10_000}, "rate none → 10,000"),
    ],
)
def test_different_loads_are_detected(changed: dict[str, Any], said: str) -> None:
    load = Load(connections=64, threads=1)
    assert other_load(make_noise([0.01, 0.01, 0.01]), load, PLAINTEXT) is None
    assert other_load(make_noise([0.01, 0.01, 0.01]), load.model_copy(update=changed), PLAINTEXT) == said


def test_different_workloads_are_detected_whatever_their_name() -> None:
    load, known = Load(connections=64, threads=1), make_noise([0.01, 0.01, 0.01])
    assert other_load(known, load, PLAINTEXT.model_copy(update={"name": "request"})) is None
    assert other_load(known, load, PLAINTEXT.model_copy(update={"request": Request(path="/large")})) == "workload plaintext → plaintext"
    proxied = Workload(name="tcp", description="a proxy", backend="c/nginx")
    assert other_load(known, load, proxied) == "workload plaintext → tcp"


def test_longer_trials_count_as_the_same_load() -> None:
    assert other_load(make_noise([0.01, 0.01, 0.01]), Load(connections=64, threads=1, duration_s=60), PLAINTEXT) is None


def test_noise_of_an_earlier_version_can_be_read() -> None:
    known = make_noise([0.01, 0.01, 0.01])
    added = {"load", "workload", "request", "httpbench_version", "cpus_allowed", "cpu_quota_cores"}
    earlier = Noise.model_validate(known.model_dump(exclude=added))
    assert other_load(earlier, Load(connections=64), PLAINTEXT) is None
    assert other_load(earlier, Load(connections=8), PLAINTEXT) == "connections 64 → 8"
