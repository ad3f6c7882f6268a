"""Tests that a run is recorded while the store fails, and after it works again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

from httpbench import load
from httpbench.errors import StoreError
from httpbench.host import Topology
from httpbench.model import Profile, Run, RunStatus, Trial, Workload
from httpbench.run.builds.prepare import Built
from httpbench.run.observer import Observer
from httpbench.run.plan.run_plan import RunPlan
from httpbench.run.plan.spec import RunSpec
from httpbench.run.rounds.record import Record
from httpbench.store import Store
from tests.factories import make_plan, make_target, make_trial
from tests.made_profiles import make_profile

TRIALS = [make_trial(make_plan(number=number, round_=number)) for number in range(3)]


class FailingStore(Store):
    """A store that fails as if its database were locked while ``locked`` is set."""

    locked = False

    def begin(self, run: Run) -> None:
        self._fail()
        super().begin(run)

    def add(self, run_id: str, trial: Trial) -> None:
        self._fail()
        super().add(run_id, trial)

    def add_profiles(self, run_id: str, profiles: Sequence[Profile]) -> None:
        self._fail()
        super().add_profiles(run_id, profiles)

    def _fail(self) -> None:
        if self.locked:
            raise StoreError("results.db: database is locked")


class Warnings:
    """An observer that records warnings."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def warning(self, text: str) -> None:
        self.heard.append(text)


@pytest.fixture
def started(tmp_path: Path) -> Callable[[Store, Warnings], Record]:
    def start(store: Store, warnings: Warnings) -> Record:
        spec = RunSpec(
            plan=RunPlan(tuple(trial.plan for trial in TRIALS), {}),
            targets={"c/epoll/level": make_target(folder=str(tmp_path))},
            workloads={"plaintext": Workload(name="plaintext", description="Hello")},
            generators={"native": load.get("native")},
            topology=Topology(()),
            command=("httpbench", "bench"),
        )
        return Record(spec, Built({}, {}, {}), store, cast("Observer", warnings))

    return start


@pytest.mark.parametrize("locked_from", [0, 1])
def test_trials_that_failed_to_be_stored_are_stored_later(
    tmp_path: Path, started: Callable[[Store, Warnings], Record], locked_from: int
) -> None:
    with FailingStore(tmp_path / "results.db") as store:
        warnings = Warnings()
        store.locked = locked_from == 0
        record = started(store, warnings)
        record.keep(TRIALS[0])
        store.locked = True
        record.keep(TRIALS[1])
        assert record.trials[1] == TRIALS[1], "only the harness has it, so it must be whole"
        store.locked = False
        record.keep(TRIALS[2])
        record.finish(RunStatus.FINISHED)
        outcome = record.outcome()
        assert outcome.store_error is None
        assert warnings.heard == ["results.db: database is locked: results are kept and will be stored once the store works again"]
        run, trials = store.run("latest")
        assert run.status is RunStatus.FINISHED
        assert trials == outcome.trials == TRIALS


@pytest.mark.parametrize("locked_for_ever", [False, True])
def test_profiles_are_stored_later_or_are_an_error(
    tmp_path: Path, started: Callable[[Store, Warnings], Record], locked_for_ever: bool
) -> None:
    profile = make_profile({"main": 10.0}, 1)
    with FailingStore(tmp_path / "results.db") as store:
        record = started(store, Warnings())
        record.keep(TRIALS[0])
        store.locked = True
        record.keep_profiles((profile,))
        store.locked = locked_for_ever
        record.finish(RunStatus.FINISHED)
        assert (record.outcome().store_error is not None) is locked_for_ever
        run, _ = store.run("latest")
        assert run.profiles == (() if locked_for_ever else (profile,))


def test_trials_that_can_never_be_stored_are_an_error_at_the_end(tmp_path: Path, started: Callable[[Store, Warnings], Record]) -> None:
    with FailingStore(tmp_path / "results.db") as store:
        store.locked = True
        warnings = Warnings()
        record = started(store, warnings)
        record.keep(TRIALS[0])
        record.finish(RunStatus.FINISHED)
        outcome = record.outcome()
        assert outcome.store_error is not None
        assert outcome.trials == TRIALS[:1]
        assert len(warnings.heard) == 1


def test_the_outcome_has_the_stored_trials_and_those_that_failed_to_be_stored(
    tmp_path: Path, started: Callable[[Store, Warnings], Record]
) -> None:
    with FailingStore(tmp_path / "results.db") as store:
        record = started(store, Warnings())
        record.keep(TRIALS[0])
        store.locked = True
        record.keep(TRIALS[1])
        record.finish(RunStatus.FINISHED)
        outcome = record.outcome()
        assert outcome.store_error is not None
        assert outcome.trials == TRIALS[:2]


def test_a_store_that_can_no_longer_be_read_is_an_error_at_the_end(
    tmp_path: Path, started: Callable[[Store, Warnings], Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(store: Store, run: Run, trials: Sequence[Trial]) -> None:
        raise StoreError("results.db: disk I/O error")

    with FailingStore(tmp_path / "results.db") as store:
        warnings = Warnings()
        record = started(store, warnings)
        record.keep(TRIALS[0])
        store.locked = True
        record.keep(TRIALS[1])
        record.finish(RunStatus.FINISHED)
        monkeypatch.setattr(FailingStore, "updated", fail)
        outcome = record.outcome()
        assert outcome.store_error is not None
        assert outcome.trials == TRIALS[1:2]
        assert warnings.heard[-1] == "results.db: disk I/O error: the report leaves out the trials that were stored"
