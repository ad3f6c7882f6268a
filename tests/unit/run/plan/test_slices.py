"""Tests of the choice of tables whose targets take turns in slices."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from httpbench import load
from httpbench.errors import UsageError
from httpbench.host import Topology
from httpbench.model import Database, Engine, Isolation, Kind, Load, NetworkMode, TrialPlan, Workload
from httpbench.run.plan.run_plan import RunPlan
from httpbench.run.plan.slices import Interleave, slices_of, tables_of, with_slices
from httpbench.run.plan.spec import RunSpec
from tests.factories import make_plan, make_target

NAMES = ("a/a", "b/b", "c/c")


def spec_of(trials: Sequence[TrialPlan], generator: str = "native", **target: Any) -> RunSpec:
    targets = [make_target(name, **target) for name in NAMES]
    return RunSpec(
        plan=RunPlan(tuple(trials), {}),
        targets={each.id: each for each in targets},
        workloads={"plaintext": Workload(name="plaintext", description="Hello")},
        generators={name: load.get(name) for name in ("native", generator)},
        topology=Topology(()),
        command=("httpbench", "bench"),
    )


def rounds(names: Sequence[str] = NAMES, connections: Sequence[int] = (64,), generator: str = "native") -> list[TrialPlan]:
    order = random.Random(3)
    found: list[TrialPlan] = []
    for round_ in range(2):
        cells = [(name, count) for name in names for count in connections]
        order.shuffle(cells)
        for name, count in cells:
            found.append(make_plan(name, round_=round_, number=len(found), load=Load(connections=count), load_generator=generator))
    return found


def test_tables_are_measured_one_after_the_other_in_each_round() -> None:
    spec = with_slices(spec_of(rounds(connections=(8, 256))), Interleave.AUTO)
    tables = tables_of(spec.plan.trials)
    assert [len(table) for table in tables] == [3, 3, 3, 3]
    assert all(len({one.load.connections for one in table}) == 1 for table in tables)
    assert [one.number for one in spec.plan.trials] == list(range(12))
    assert {one.slices for one in spec.plan.trials} == {100}


def test_each_target_takes_turns_with_the_baseline_at_its_own_rate() -> None:
    found = [
        make_plan(target, number=number, load=Load(share_of_peak=share, peak_of=name))
        for number, (target, share, name) in enumerate(
            [("a/a", 0.5, "a/a"), ("b/b", 0.5, "b/b"), ("c/c", 0.5, "b/b"), ("a/a", 1.5, "a/a"), ("c/c", 0.5, "a/a")]
        )
    ]
    tables = tables_of(with_slices(spec_of(found), Interleave.AUTO).plan.trials)
    assert [[one.target for one in table] for table in tables] == [["a/a", "c/c"], ["b/b", "c/c"], ["a/a"]]
    assert [table[0].slices for table in tables] == [100, 100, None]


@pytest.mark.parametrize(("duration_s", "slices"), [(10, 100), (2, 20), (0.5, 5), (0.3, 4), (0.15, 3), (0.1, 2), (0.05, 1)])
def test_a_slice_lasts_a_tenth_of_a_second_or_less(duration_s: float, slices: int) -> None:
    assert slices_of(Load(duration_s=duration_s)) == slices


def test_rounds_can_be_chosen() -> None:
    spec = spec_of(rounds())
    assert with_slices(spec, Interleave.ROUNDS) is spec


def test_a_server_that_was_already_running_cannot_be_frozen() -> None:
    assert_refused(spec_of(rounds(), url="http://127.0.0.1:1/"), "cannot be frozen")


@pytest.mark.parametrize(("kind", "slices"), [(Kind.SERVER, 100), (Kind.PROXY, 100), (Kind.CLIENT, None)])
def test_servers_and_proxies_take_turns(kind: Kind, slices: int | None) -> None:
    spec = spec_of(rounds())
    spec = replace(spec, targets={name: target.model_copy(update={"kind": kind}) for name, target in spec.targets.items()})
    assert {one.slices for one in with_slices(spec, Interleave.AUTO).plan.trials} == {slices}


def test_clients_are_measured_as_whole_processes() -> None:
    spec = spec_of(rounds())
    clients = {name: target.model_copy(update={"kind": Kind.CLIENT}) for name, target in spec.targets.items()}
    assert_refused(replace(spec, targets=clients), "whole processes")


def test_other_load_generators_cannot_measure_in_slices() -> None:
    assert_refused(spec_of(rounds(generator="wrk"), "wrk"), "only the native load generator")


def test_one_target_has_nobody_to_take_turns_with() -> None:
    assert_refused(spec_of(rounds(NAMES[:1])), "only one target")


def test_targets_with_one_port_cannot_run_at_the_same_time() -> None:
    assert_refused(replace(spec_of(rounds()), port=8080), "the same port")


def test_images_on_the_network_of_this_machine_choose_their_own_port() -> None:
    image = Isolation(engine=Engine.DOCKER, image="web:1")
    assert_refused(spec_of(rounds(), isolation=image), "the same port")
    bridged = with_slices(spec_of(rounds(), isolation=image.model_copy(update={"network": NetworkMode.BRIDGE})), Interleave.SLICES)
    assert all(one.slices for one in bridged.plan.trials)


def test_databases_are_started_for_one_target_at_a_time() -> None:
    spec = spec_of(rounds(), database=Database.POSTGRES)
    db = Workload(name="plaintext", description="Hello", test="db")
    assert_refused(replace(spec, workloads={"plaintext": db}), "each target has its own database")


def test_a_backend_on_the_load_host_cannot_be_measured_in_slices() -> None:
    assert_refused(replace(spec_of(rounds()), backend_there=True), "the backend runs on the load host")


def assert_refused(spec: RunSpec, reason: str) -> None:
    """Assert that this run has no slices, and that requiring slices is an error with this reason."""
    assert all(one.slices is None for one in with_slices(spec, Interleave.AUTO).plan.trials)
    with pytest.raises(UsageError, match=reason):
        with_slices(spec, Interleave.SLICES)
