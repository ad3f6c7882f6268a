"""Store the trials of a run one by one. If storing fails, the run continues, and storing is retried after each further trial.

Once a trial is stored, only its short form stays in memory. The whole trials are read back from the store when the run ends.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from httpbench import host
from httpbench.errors import StoreError
from httpbench.model import Profile, Run, RunStatus, Target, Trial
from httpbench.run.builds.prepare import Built
from httpbench.run.clock import ClockCheck, now
from httpbench.run.interrupt import uninterrupted
from httpbench.run.observer import Observer
from httpbench.run.plan.spec import RunSpec
from httpbench.run.rounds.brief import brief
from httpbench.run.rounds.kept import Secrets, kept_run, kept_trial
from httpbench.run.rounds.noise import noise_for
from httpbench.store import Store


@dataclass(slots=True)
class Outcome:
    """The result of a run, whether or not it could be stored."""

    run: Run
    trials: list[Trial] = field(default_factory=list)
    store_error: StoreError | None = None


class Record:
    """A run in progress, and its trials so far."""

    def __init__(self, spec: RunSpec, built: Built, store: Store, observer: Observer):
        self._store, self._observer = store, observer
        self._secrets = Secrets.of(spec.targets.values(), spec.workloads.values())
        self._outcome = Outcome(kept_run(_new_run(spec, built), self._secrets))
        self._trials: list[Trial] = []
        self._clock = ClockCheck()
        self._stored_trials: int | None = None  # ``None`` until the run itself is stored
        self._stored_profiles = 0
        try:
            if not spec.measures_noise and spec.load_place.is_here:  # the noise floor was measured with a local load
                self._outcome.run = self._with_noise(self._outcome.run)
        except StoreError as error:
            self._not_stored(error)
        self._store_the_rest()

    @property
    def trials(self) -> list[Trial]:
        """Trials so far: stored trials in their short form, all others whole. In a search, all trials are whole."""
        return self._trials

    @property
    def run_id(self) -> str:
        return self._outcome.run.id

    def keep(self, trial: Trial) -> Trial:
        """Store a finished trial without its secrets, and return the stored form."""
        kept = kept_trial(trial, self._secrets)
        self._trials.append(kept)
        self._store_the_rest()
        return kept

    def keep_profiles(self, profiles: tuple[Profile, ...]) -> None:
        """Store the profiles of the run."""
        self._outcome.run = self._outcome.run.model_copy(update={"profiles": profiles})
        self._store_the_rest()

    def finish(self, status: RunStatus) -> None:
        """End the run now."""
        outcome, finished_at = self._outcome, now()
        for problem in self._clock.problems():
            self._observer.warning(problem)
        self._store_the_rest()  # with the original status, because a run must be stored before it can be finished
        outcome.run = outcome.run.model_copy(update={"status": status, "finished_at": finished_at})
        if outcome.store_error is None:
            try:
                self._store.finish(outcome.run.id, status, finished_at)
            except StoreError as error:
                outcome.store_error = error
                self._observer.warning(error.message)

    def outcome(self) -> Outcome:
        """Return the run with its whole trials. If the store can't be read, warn and leave out the trials that are stored."""
        outcome, stored = self._outcome, self._stored_trials or 0
        outcome.trials = self._trials
        if stored and not outcome.run.search:
            read: list[Trial] = []
            try:
                _, read = self._store.updated(outcome.run, ())
            except StoreError as error:
                outcome.store_error = error
                self._observer.warning(f"{error.message}: the report leaves out the trials that were stored")
            outcome.trials = sorted([*read, *self._trials[stored:]], key=lambda trial: trial.plan.number)
        return outcome

    def _with_noise(self, run: Run) -> Run:
        """Add this machine's noise floor to the run, if it is known and still valid."""
        noise, reason = noise_for(self._store, run)
        if reason is not None:
            self._observer.warning(reason)
        return run.model_copy(update={"noise": noise})

    def _store_the_rest(self) -> None:
        """Store everything that isn't stored yet, including what an earlier attempt couldn't store."""
        run, trials = self._outcome.run, self._trials
        try:
            with uninterrupted():
                if self._stored_trials is None:
                    self._store.begin(run)
                    self._stored_trials, self._stored_profiles = 0, len(run.profiles)
                while self._stored_trials < len(trials):
                    trial = trials[self._stored_trials]
                    self._store.add(run.id, trial)
                    if not run.search:  # the next rate depends on everything that was observed, and a search has few trials
                        trials[self._stored_trials] = brief(trial, with_result=_keeps_results(run))
                    self._stored_trials += 1
                if self._stored_profiles < len(run.profiles):
                    self._store.add_profiles(run.id, run.profiles)
                    self._stored_profiles = len(run.profiles)
        except StoreError as error:
            self._not_stored(error)
        else:
            self._outcome.store_error = None

    def _not_stored(self, error: StoreError) -> None:
        if self._outcome.store_error is None:
            self._observer.warning(f"{error.message}: results are kept and will be stored once the store works again")
        self._outcome.store_error = error


def _keeps_results(run: Run) -> bool:
    """Return whether the results of earlier trials decide whether another trial follows, or at which rate."""
    return run.precision is not None or any(planned.load.share_of_peak is not None for planned in run.plan)


def _new_run(spec: RunSpec, built: Built) -> Run:
    targets = {name: spec.targets[name] for name in spec.target_ids}
    started_at = now()
    return Run(
        id=f"{started_at[:19].replace(':', '').replace('-', '')}-{secrets.token_hex(2)}",
        started_at=started_at,
        finished_at=None,
        status=RunStatus.RUNNING,
        command=spec.command,
        environment=host.read_environment(_common_folder(targets.values()), built.versions, topology=spec.topology),
        plan=spec.plan.trials,
        targets=targets,
        workloads={planned.workload: spec.workloads[planned.workload] for planned in spec.plan.trials},
        table=spec.table,
        baseline=spec.baseline,
        precision=spec.precision,
        retries=spec.retries,
        measures_noise=spec.measures_noise,
        scale=spec.scale,
        gates=spec.gates,
        fails_if_inconclusive=spec.fails_if_inconclusive,
        looks=spec.looks,
        search=spec.search,
        name=spec.name,
        tags=spec.tags,
        load_host=spec.load_place.host,
    )


def _common_folder(targets: Iterable[Target]) -> Path:
    """Return the folder that contains all targets. Its git commit identifies their sources."""
    return Path(os.path.commonpath([target.folder for target in targets if target.run or target.url or target.isolation]))
