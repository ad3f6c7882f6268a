"""Tests of properties that every run's plan has."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.model import Cores, Http2, Https, Load, Scaling
from httpbench.run import Matrix, make_plan, scaling_of, undeclared
from httpbench.run.proxy.trial import BASELINE
from tests.factories import TARGETS, make_target

CORES = Cores(target=(0,), generator=(1,), harness=(1,), shared=False)


def matrix(targets: int, connections: list[int], rounds: int) -> Matrix:
    loads = [Load(connections=count) for count in connections]
    return Matrix(TARGETS[:targets], [Scaling.SINGLE], ["plaintext"], loads, ["native"], rounds)


@given(st.integers(1, 6), st.lists(st.integers(1, 999), min_size=1, max_size=4, unique=True), st.integers(1, 5), st.integers())
def test_every_cell_is_in_every_round_once(targets: int, connections: list[int], rounds: int, seed: int) -> None:
    plan = make_plan(matrix(targets, connections, rounds), lambda _: CORES, seed)
    assert set(Counter((trial.round, trial.cell) for trial in plan.trials).values()) == {1}
    assert len(plan.trials) == targets * len(connections) * rounds
    assert [trial.number for trial in plan.trials] == list(range(len(plan.trials)))
    assert [trial.round for trial in plan.trials] == sorted(trial.round for trial in plan.trials)


@given(st.integers())
def test_the_seed_determines_the_order(seed: int) -> None:
    assert make_plan(matrix(6, [8, 64], 3), lambda _: CORES, seed) == make_plan(matrix(6, [8, 64], 3), lambda _: CORES, seed)


def test_rounds_differ_in_order() -> None:
    plan = make_plan(matrix(6, [8, 64], 2), lambda _: CORES, 1)
    orders = [[trial.cell for trial in plan.trials if trial.round == number] for number in (0, 1)]
    assert orders[0] != orders[1]


def test_every_load_generator_measures_every_cell_once_per_round() -> None:
    plan = make_plan(replace(matrix(2, [8], 5), load_generators=["autocannon", "native"], baseline=BASELINE), lambda _: CORES, 1)
    found = Counter((trial.round, trial.target, trial.load_generator) for trial in plan.trials)
    assert len(found) == len(plan.trials) == 5 * 3 * 2


def test_multi_means_prefork_for_targets_that_fill_cores_that_way() -> None:
    prefork = TARGETS[0].model_copy(update={"scaling": (Scaling.SINGLE, Scaling.PREFORK)})
    assert scaling_of(prefork, Scaling.MULTI) is Scaling.PREFORK
    assert scaling_of(prefork, Scaling.SINGLE) is Scaling.SINGLE
    assert scaling_of(TARGETS[0], Scaling.MULTI) is None


def test_a_target_without_the_requested_scaling_is_skipped_with_a_reason() -> None:
    own_matrix = Matrix(TARGETS[:1], [Scaling.MULTI], ["plaintext"], [Load()], ["native"], 3)
    plan = make_plan(own_matrix, lambda _: CORES, 1)
    assert plan.trials == ()
    assert plan.skipped == {"c/epoll/level": "cannot be run as multi: it scales as single"}


@given(st.integers(1, 6), st.integers(1, 5), st.integers())
def test_a_baseline_is_in_every_round_under_every_load_once(targets: int, rounds: int, seed: int) -> None:
    """The first target has its own load: an open loop at 100 requests/s."""
    own_matrix = matrix(targets, [8], rounds)
    less = Load(connections=8, rate_rps=100)
    own_matrix = replace(own_matrix, own_loads={TARGETS[0].id: [less]}, baseline=BASELINE)
    plan = make_plan(own_matrix, lambda _: CORES, seed)
    loads = {trial.load for trial in plan.trials}
    assert loads == ({less, Load(connections=8)} if targets > 1 else {less})
    for number in range(rounds):
        found = [trial.load for trial in plan.trials if trial.round == number and trial.target == BASELINE.id]
        assert set(found) == loads and len(found) == len(loads)


def test_workers_are_only_set_for_targets_that_accept_a_number() -> None:
    takes = make_target("a/takes", scaling=(Scaling.MULTI,), env={"WORKERS": "{workers}"})
    copied = make_target("b/copied", scaling=(Scaling.PREFORK,))
    fixed = make_target("c/fixed", scaling=(Scaling.MULTI,))
    chosen = Matrix([takes, copied, fixed], [Scaling.MULTI], ["plaintext"], [Load(connections=8)], "native", 1, workers=8)
    plan = make_plan(chosen, lambda _: CORES, 1)
    assert {trial.target: trial.workers for trial in plan.trials} == {"a/takes": 8, "b/copied": 8}
    assert plan.skipped == {"c/fixed": "cannot be given a number of workers: its command has no {workers}"}


def test_the_baseline_ignores_the_number_of_workers() -> None:
    proxy = make_target("a/takes", scaling=(Scaling.MULTI,), run=("./proxy", "{workers}"))
    chosen = Matrix([proxy], [Scaling.MULTI], ["plaintext"], [Load(connections=8)], "native", 1, baseline=BASELINE, workers=8)
    assert {trial.target: trial.workers for trial in make_plan(chosen, lambda _: CORES, 1).trials} == {"a/takes": 8, "baseline": None}


@pytest.mark.parametrize(
    ("declared", "load", "problem"),
    [
        ({}, Load(), None),
        ({}, Load(tls=True), "HTTPS"),
        ({"https": Https(run=("./server", "{cert}"))}, Load(tls=True), None),
        ({"https": Https(run=("./server", "{cert}"))}, Load(tls=True, http2=True), "HTTP/2 over TLS"),
        ({"https": Https(run=("./server", "{cert}")), "http2": (Http2.H2,)}, Load(tls=True, http2=True), None),
        ({"http2": (Http2.H2C,)}, Load(http2=True), None),
        ({"http2": (Http2.H2,)}, Load(http2=True), "HTTP/2 without TLS"),
    ],
)
def test_targets_are_measured_only_by_protocols_that_they_declare(declared: dict[str, Any], load: Load, problem: str | None) -> None:
    target = make_target("c/a", **declared)
    plan = make_plan(Matrix([target], [Scaling.SINGLE], ["plaintext"], [load], ["native"], 1), lambda _: CORES, 0)
    assert bool(plan.trials) == (problem is None)
    assert list(plan.skipped) == ([] if problem is None else [f"{problem} of c/a"])


def test_a_command_may_speak_any_protocol() -> None:
    assert undeclared(make_target("command/a", category=None), tls=True, http2=True) is None


@given(st.integers(1, 4), st.integers(1, 4), st.integers())
def test_loads_at_shares_of_the_peak_follow_all_peaks_and_have_their_own_baselines(targets: int, rounds: int, seed: int) -> None:
    closed = Load(connections=8)
    loads = [closed, *(closed.model_copy(update={"share_of_peak": share}) for share in (0.5, 1.5))]
    plan = make_plan(replace(matrix(targets, [8], rounds), loads=loads, baseline=BASELINE), lambda _: CORES, seed)
    assert set(Counter((trial.round, trial.cell) for trial in plan.trials).values()) == {1}
    peaks, at_shares = (plan.trials[: (targets + 1) * rounds], plan.trials[(targets + 1) * rounds :])
    assert all(trial.load == closed for trial in peaks)
    names = {target.id for target in TARGETS[:targets]}
    expected = {(name, 0.5, name) for name in names} | {(name, 1.5, name) for name in names} | {(BASELINE.id, 0.5, name) for name in names}
    for number in range(rounds):
        own = [trial for trial in at_shares if trial.round == number]
        assert {(trial.target, trial.load.share_of_peak, trial.load.peak_of) for trial in own} == expected and len(own) == len(expected)
