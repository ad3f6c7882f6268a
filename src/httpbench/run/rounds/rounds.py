"""Build the targets of a run, then run the trials one after the other, round by round. No other module decides which trial runs next."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from httpbench.errors import HttpbenchError
from httpbench.host import Topology
from httpbench.model import Cores, Profile, Reason, ReasonKind, RunStatus, Target, Trial, TrialPlan, Workload
from httpbench.run.builds.prepare import Built, prepare
from httpbench.run.clock import now
from httpbench.run.database.choice import database_of, databases_of
from httpbench.run.interrupt import interruptible
from httpbench.run.kinds import KINDS, estimate_left_s
from httpbench.run.load.place import BackendPlace
from httpbench.run.observer import Observer
from httpbench.run.plan.spec import RunSpec
from httpbench.run.rounds.peaks import no_rate, with_rate
from httpbench.run.rounds.record import Outcome, Record
from httpbench.run.rounds.repeats import with_repeats
from httpbench.run.rounds.trial import make_trial
from httpbench.run.slices.round import make_round
from httpbench.run.trial.frame import failed
from httpbench.run.trial.inputs import TrialInputs, Upstream
from httpbench.stats.hopeless import common_failure
from httpbench.store import Store

REFERENCE_REPEATS = 2
"""Maximum number of repeats of the closed-loop trial with which a search begins."""


def make_run(spec: RunSpec, store: Store, observer: Observer) -> Outcome:
    """Build targets that aren't built yet, then run every trial. An interruption ends the run early and isn't raised."""
    with interruptible():
        try:
            built = prepare(_required(spec), observer, spec.parallel_builds)
        except KeyboardInterrupt:
            record = Record(spec, Built({}, {}, {}), store, observer)
            record.finish(RunStatus.INTERRUPTED)
            return record.outcome()
        record = Record(spec, built, store, observer)
        try:
            record.finish(_make_trials(spec, built, record, observer))
        except KeyboardInterrupt:
            record.finish(RunStatus.INTERRUPTED)
        return record.outcome()


def backend_of(
    target: Target,
    workload: Workload,
    targets: Mapping[str, Target],
    built: Built,
    cores: Cores,
    topology: Topology,
    place: BackendPlace | None = None,
) -> Upstream | None:
    """Return the built backend of a proxy or the built database of a server, or ``None`` if the target uses neither."""
    name = workload.backend
    if name is None:
        database = database_of(target, workload)
        return None if database is None else Upstream(database, built.folders[database.id], topology.groups(cores.database))
    folder = built.folders[name] if place is None else Path(targets[name].folder)
    return Upstream(targets[name], folder, topology.groups(cores.backend), place)


def _required(spec: RunSpec) -> list[Target]:
    """Return all targets to build: the measured targets with their features, the backends of proxies, and the databases."""
    backends = [] if spec.backend_there else [spec.workloads[planned.workload].backend for planned in spec.plan.trials]
    targets = [*map(spec.built, spec.plan.trials), *(spec.targets[name] for name in dict.fromkeys(backends) if name)]
    pairs = dict.fromkeys((planned.target, planned.workload) for planned in spec.plan.trials)
    databases = databases_of((spec.targets[target], spec.workloads[workload]) for target, workload in pairs)
    return list({target.build_name: target for target in (*targets, *databases)}.values())


def _make_trials(spec: RunSpec, built: Built, record: Record, observer: Observer) -> RunStatus:
    making = _Making(spec, built, record, observer)
    status = _make_counted(spec, making, record, observer)
    if spec.profilers and status is RunStatus.FINISHED:
        making.profile()
    return status


def _make_counted(spec: RunSpec, making: _Making, record: Record, observer: Observer) -> RunStatus:
    for group in _upcoming(spec, record.trials):
        planned = group[0]
        if _is_decided(spec, planned, record, observer):
            return RunStatus.FINISHED
        if _is_hopeless(spec, planned, record.trials, observer):
            return RunStatus.STOPPED
        if spec.load_place.is_gone:
            observer.warning("stopped: the load host was lost, and a new connection to it failed")
            return RunStatus.STOPPED
        making.make(group)
    return RunStatus.FINISHED


def _is_decided(spec: RunSpec, planned: TrialPlan, record: Record, observer: Observer) -> bool:
    """Return whether the run may end before the trial ``planned``, because it is precise enough or its gates are decided."""
    if spec.precision and spec.baseline:
        from httpbench.run.rounds.precision import is_enough

        if is_enough(spec.precision, spec.baseline, planned, record.trials, observer):
            return True
    if spec.looks:
        from httpbench.run.rounds.settled import is_settled

        return is_settled(spec, planned, record)
    return False


class _Making:
    """The execution of a run's trials: one by one or, if the targets of a table take turns, several together."""

    def __init__(self, spec: RunSpec, built: Built, record: Record, observer: Observer):
        self._spec, self._built, self._record, self._observer = spec, built, record, observer
        self._begun = 0
        """Number of trials that have started, without repeats. If targets take turns, all their trials start before the first one ends."""
        self._began_s = time.monotonic()
        self._ends_s = self._began_s
        """Estimated time at which the run ends, in seconds on the monotonic clock."""

    def make(self, group: Sequence[TrialPlan]) -> None:
        """Run and store each trial of a group. The trial of a target that couldn't be built fails."""
        self._ends_s = self._estimated_end_s(group)
        ready = []
        for planned in group:
            if error := self._build_error(planned) or no_rate(planned):
                self._started(planned)
                self._keep(failed(planned, now(), error))
            else:
                ready.append(planned)
        ready = [self._without_turns(planned) for planned in ready]
        for planned in ready:
            if planned.slices is None:
                self._started(planned)
                self._keep(make_trial(self._inputs(planned), self._observer))
        ready = [planned for planned in ready if planned.slices]
        while ready:
            inputs = [functools.partial(self._inputs, planned) for planned in ready]
            whole = functools.partial(make_trial, observer=self._observer)
            made = make_round(inputs, self._observer, self._started, self._keep, whole)
            ready = ready[made:]

    def _without_turns(self, planned: TrialPlan) -> TrialPlan:
        """Return the plan without slices if an earlier round showed that the target can't be measured in slices."""
        if planned.slices is None:
            return planned
        is_whole = any(trial.plan.slices is None for trial in self._record.trials if trial.plan.cell == planned.cell)
        return planned.model_copy(update={"slices": None}) if is_whole else planned

    def profile(self) -> None:
        """Profile the targets, and store their profiles."""
        from httpbench.run.rounds.profiled import profile

        made: list[Profile] = []
        try:
            profile(self._spec, self._record.trials, self._inputs, made.append, self._observer)
        finally:
            self._record.keep_profiles(tuple(made))

    def _started(self, planned: TrialPlan) -> None:
        search = self._spec.search
        if search:
            from httpbench.stats.level import bracket

            spent_s = time.monotonic() - self._began_s
            most_s = max(search.time_max_s - spent_s, 0.0) if search.time_max_s is not None else None
            self._observer.searching(bracket(search, self._record.trials), search.trials_max, most_s)
        total = None if search else len(self._spec.plan.trials)
        self._observer.trial_started(planned, self._begun, total, max(self._ends_s - time.monotonic(), 0.0))
        self._begun += planned.attempt == 0

    def _estimated_end_s(self, group: Sequence[TrialPlan]) -> float:
        """Estimate when the run will end. The trials of the group are about to start."""
        trials, now_s = self._spec.plan.trials, time.monotonic()
        repeats = [planned for planned in group if planned.attempt]
        ahead = [*repeats, *trials[self._begun :]]
        return now_s + estimate_left_s(trials[: self._begun], ahead, self._spec.targets, now_s - self._began_s)

    def _keep(self, trial: Trial) -> None:
        self._observer.trial_ended(self._record.keep(trial))

    def _build_error(self, planned: TrialPlan) -> HttpbenchError | None:
        target, workload = self._spec.built(planned), self._spec.workloads[planned.workload]
        database = database_of(target, workload)
        names = (target.build_name, workload.backend, database.id if database else None)
        return next((self._built.errors[name] for name in names if name in self._built.errors), None)

    def _inputs(self, planned: TrialPlan) -> TrialInputs:
        spec, built, made = self._spec, self._built, self._record.trials
        target, workload = spec.built(planned), spec.workloads[planned.workload]
        requests = (planned.target, planned.workload)
        return TrialInputs(
            plan=planned,
            started_at=now(),
            target=target,
            workload=workload,
            generator=spec.generators[planned.load_generator],
            folder=built.folders[target.build_name],
            cores=spec.topology.groups(planned.cores.target),
            port=spec.port,
            run_id=self._record.run_id,
            load_place=spec.load_place,
            start_limit_s=spec.start_limit_s,
            backend=backend_of(target, workload, spec.targets, built, planned.cores, spec.topology, spec.backend_place),
            learned=next((trial.learned for trial in made if trial.learned and (trial.plan.target, trial.plan.workload) == requests), None),
            accepts_disturbed=spec.retries == 0 and spec.search is None,
            probes=_is_to_be_probed(target, made),
            failed_share_max=spec.search.level.failed_share_max if spec.search else None,
        )


def _is_hopeless(spec: RunSpec, planned: TrialPlan, made: Sequence[Trial], observer: Observer) -> bool:
    """Return whether every trial of the first round was invalid for the same reason. If so, later trials would be invalid, too."""
    if spec.search or planned.round != 1 or made[-1].plan.round != 0:
        return False
    reasons = common_failure(made)
    if reasons:
        same = [reason.dumped for reason in reasons]
        observer.warning(Reason.of(ReasonKind.HOPELESS, rounds=spec.plan.rounds, reasons=same))
    return bool(reasons)


def _upcoming(spec: RunSpec, made: Sequence[Trial]) -> Iterator[list[TrialPlan]]:
    """Yield the trials of the plan with repeats. The trials of a table in slices are yielded together, all other trials one by one.

    In a search, the results so far determine the next trial. Only its closed-loop trial is repeated if it is disturbed, because the search
    starts from its result.
    """
    began_s = time.monotonic()
    for group in with_repeats(spec.plan.trials, made, REFERENCE_REPEATS if spec.search else spec.retries):
        yield [with_rate(planned, made) for planned in group]
    if spec.search:
        from httpbench.run.rounds.saturate import upcoming

        for planned in upcoming(spec.search, spec.plan.trials[0], made, began_s):
            yield [planned]


def _is_to_be_probed(target: Target, made: Sequence[Trial]) -> bool:
    """Return whether to probe the target. Each target is probed once per run.

    A server that was already running isn't probed, because malformed requests may set off alarms.
    """
    if not KINDS[target.kind].probes or target.url is not None:
        return False
    return not any(trial.probed for trial in made if trial.plan.target == target.id)
