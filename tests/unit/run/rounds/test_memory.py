"""Test that the memory of a run doesn't grow with its results. The trials are synthetic, and no target is started."""

from __future__ import annotations

import gc
import io
import tracemalloc
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from rich.console import Console

from httpbench import load
from httpbench.cli.terminal.live_area import LiveArea
from httpbench.host import Topology
from httpbench.load import SliceReport
from httpbench.model import Kind, Precision, Trial, Workload
from httpbench.run.builds.prepare import Built
from httpbench.run.kinds import KINDS
from httpbench.run.observer import Observer
from httpbench.run.plan.run_plan import RunPlan
from httpbench.run.plan.spec import RunSpec
from httpbench.run.rounds import rounds, trial
from httpbench.run.trial.inputs import TrialInputs
from httpbench.store import Store
from tests.factories import APART, make_disturbed, make_plan, make_target
from tests.made_runs import make_servers_run

TARGET = "c/epoll/level"
CORES = APART.model_copy(update={"harness": (0,)})
FIRST, LAST = 20, 70
"""Numbers of the trials between which memory is measured. Caches fill up during the first trials."""
SLICES = 60
DISTURBED = make_disturbed().verdict.model_copy(update={"is_accepted": True})


class Trials:
    """Trials as large as real ones. The trials with the numbers ``FIRST`` and ``LAST`` measure the memory in use."""

    def __init__(self) -> None:
        (_, (made, *_)) = make_servers_run((TARGET,), (64,), 1)
        self._text = made.model_copy(update={"probed": None, "verdict": DISTURBED}).model_dump_json()
        self.bytes_between = 0
        """Memory allocated after ``FIRST`` began and still in use when ``LAST`` began, in bytes."""

    def make(self, inputs: TrialInputs, scratch: Path, observer: Observer) -> Trial:
        if inputs.plan.number == FIRST:
            tracemalloc.start()
        if inputs.plan.number == LAST:
            gc.collect()
            self.bytes_between, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        for number in range(SLICES):
            observer.turn(inputs.plan, number, SLICES, SliceReport(0.1, 20_000, 100, 200_000.0 + number, 50.0))
        return Trial.model_validate_json(self._text).model_copy(update={"plan": inputs.plan})


@pytest.mark.parametrize(
    ("precision", "bytes_max"),
    [(None, 3000), (Precision(rounds_min=LAST + 1, rounds_max=LAST + 1, half_width=0.02), 7000)],
    ids=["fixed rounds", "precision"],
)
def test_memory_per_finished_trial_is_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: Precision | None, bytes_max: int
) -> None:
    trials = Trials()
    monkeypatch.setattr(trial, "KINDS", MappingProxyType({Kind.SERVER: replace(KINDS[Kind.SERVER], trial=trials.make)}))
    built = Built(folders={TARGET: tmp_path}, errors={}, versions={})
    monkeypatch.setattr(rounds, "prepare", lambda *_: built)
    spec = RunSpec(
        plan=RunPlan(tuple(make_plan(TARGET, number, number, cores=CORES) for number in range(LAST + 1)), {}),
        targets={TARGET: make_target(TARGET, folder=str(tmp_path))},
        workloads={"plaintext": Workload(name="plaintext", description="Hello")},
        generators={"native": load.get("native")},
        topology=Topology(()),
        command=("httpbench", "bench"),
        baseline=TARGET,
        precision=precision,
    )
    with Store(tmp_path / "results.db") as store:
        outcome = rounds.make_run(spec, store, LiveArea(Console(file=io.StringIO(), width=80)))
        stored = store.run("latest")
    assert (outcome.run, outcome.trials) == stored
    assert len(outcome.trials) == LAST + 1
    assert trials.bytes_between / (LAST - FIRST) < bytes_max
