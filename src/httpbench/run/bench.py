"""The sequencer: makes the trials of a plan one after the other and keeps each as soon as it is over."""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from types import FrameType

from httpbench import host
from httpbench.errors import HttpbenchError, RequirementError, StoreError
from httpbench.load import Tool
from httpbench.model import Cores, Precision, Run, RunStatus, Search, Table, Target, Trial, TrialPlan, Workload
from httpbench.run import build
from httpbench.run.kept import Secrets, kept_run, kept_trial
from httpbench.run.kinds import KINDS, estimate_s
from httpbench.run.noise import known_noise, outdated
from httpbench.run.observer import Observer
from httpbench.run.plan import Plan
from httpbench.run.precision import is_enough
from httpbench.run.serve import START_LIMIT_S
from httpbench.run.states import needs
from httpbench.run.trial import Backend, TrialJob, failed, now
from httpbench.store import Store


class Interrupted(KeyboardInterrupt):
    """SIGTERM, so that it ends a run the way Ctrl-C does: with all that was measured kept and shown."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What a run needs beside its plan."""

    plan: Plan
    targets: Mapping[str, Target]
    workloads: Mapping[str, Workload]
    generator: Tool
    """A load generator; a timer, for clients."""
    command: tuple[str, ...]
    table: Table = Table.HTTP_SERVERS
    baseline: str | None = None
    precision: Precision | None = None
    """Ends the run before its plan does."""
    measures_noise: bool = False
    """Its plan is of A/A pairs."""
    search: Search | None = None
    following: Callable[[Sequence[Trial]], TrialPlan | None] | None = None
    """After the plan: the next trial, chosen by those before it; ``None`` at the end."""
    name: str | None = None
    """Of the run."""
    jobs: int = 2
    """Builds at the same time."""
    port: int | None = None
    start_limit_s: float = START_LIMIT_S
    scale: float = 1.0
    """By how much the suite's rates and times were multiplied."""


@dataclass(slots=True)
class Outcome:
    """What came of a run, whether or not it could be stored."""

    run: Run
    trials: list[Trial] = field(default_factory=list)
    store_error: StoreError | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """Targets that can be started, and why the others cannot."""

    folders: dict[str, Path]
    errors: dict[str, HttpbenchError]
    versions: dict[str, str]
    """Of the toolchains found and the libraries built."""


def run_bench(bench: Bench, store: Store, observer: Observer) -> Outcome:
    """Builds what is missing, then makes every trial. An interruption ends it early and is not raised."""
    with _interruptible():
        try:
            built = prepare(_needed(bench), observer, bench.jobs)
        except KeyboardInterrupt:
            built = Built({}, {}, {})
            outcome = _begin(bench, built, store, observer)
            return _finish(outcome, store, RunStatus.INTERRUPTED, observer)
        outcome = _begin(bench, built, store, observer)
        status = RunStatus.FINISHED
        try:
            _trials(bench, built, outcome, store, observer)
        except KeyboardInterrupt:
            status = RunStatus.INTERRUPTED
        return _finish(outcome, store, status, observer)


def refusals(bench: Bench) -> list[str]:
    """What of the plan the load generator or this machine cannot do, a sentence each; asked before anything is built."""
    loads = {(bench.targets[trial.target].kind, trial.workload, trial.load): trial for trial in bench.plan.trials}
    refused = [KINDS[kind].refuses(trial.load_generator, trial, bench.workloads[trial.workload]) for (kind, _, _), trial in loads.items()]
    return list(dict.fromkeys(filter(None, refused)))


def need_programs(bench: Bench) -> None:
    """Raises :class:`~httpbench.errors.LoadError` where a load generator, or a program of ours, is missing: before the first build."""
    for kind in {bench.targets[trial.target].kind for trial in bench.plan.trials}:
        KINDS[kind].need_programs(bench.generator)


def prepare(targets: Sequence[Target], observer: Observer, jobs: int) -> Built:
    """Checks what each target requires and builds it; what fails is told, not raised."""
    built = Built({}, {}, {})
    cancelled = Event()
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            results = list(pool.map(lambda target: _prepare_one(target, observer, cancelled), targets))
        except BaseException:
            cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise
    for target, result in zip(targets, results, strict=True):
        if isinstance(result, HttpbenchError):
            built.errors[target.id] = result
            continue
        built.folders[target.id] = result.folder
        if result.receipt and result.receipt.version:
            built.versions[target.id] = result.receipt.version
    built.versions.update(toolchains(targets))
    return built


def toolchains(targets: Sequence[Target]) -> dict[str, str]:
    """The version found of each program that the targets require."""
    requirements = {requirement.label: requirement for target in targets for requirement in target.requires if requirement.program}
    found = host.check_all(list(requirements.values()))
    return {
        str(requirement.program): outcome.version
        for requirement, outcome in zip(requirements.values(), found, strict=True)
        if isinstance(outcome, host.Met) and outcome.version
    }


def _prepare_one(target: Target, observer: Observer, cancelled: Event) -> build.BuildState | HttpbenchError:
    if not target.is_declared:
        return build.BuildState(Path(target.folder), None, None)
    missing = needs(target)
    if missing is not None:
        reasons, mend = missing
        return RequirementError(f"needs {reasons}", hint=mend)
    state = build.state(target)
    if state.is_built:
        return state
    observer.build_started(target)
    begin = time.monotonic()
    try:
        state = build.build(target, cancelled)
    except HttpbenchError as error:
        observer.build_ended(target, time.monotonic() - begin, error)
        return error
    observer.build_ended(target, time.monotonic() - begin, None)
    return state


def _trials(bench: Bench, built: Built, outcome: Outcome, store: Store, observer: Observer) -> None:
    secrets = Secrets.of(bench.targets.values(), bench.workloads.values())
    total = None if bench.following else len(bench.plan.trials)
    for done, plan in enumerate(_upcoming(bench, outcome.trials)):
        if bench.precision and bench.baseline and is_enough(bench.precision, bench.baseline, plan, outcome.trials, observer):
            return
        observer.trial_started(plan, done, total, estimate_s(bench.plan.trials[done:] or [plan], bench.targets))
        missing = [name for name in (plan.target, bench.workloads[plan.workload].backend) if name in built.errors]
        probes = _is_to_be_probed(bench.targets[plan.target], outcome.trials)
        trial = failed(plan, built.errors[missing[0]]) if missing else _trial(bench, plan, built, observer, probes=probes)
        trial = kept_trial(trial, secrets)
        outcome.trials.append(trial)
        _keep(outcome, trial, store, observer)
        observer.trial_ended(trial)


def _trial(bench: Bench, plan: TrialPlan, built: Built, observer: Observer, *, probes: bool) -> Trial:
    target, workload = bench.targets[plan.target], bench.workloads[plan.workload]
    job = TrialJob(
        plan=plan,
        target=target,
        workload=workload,
        generator=bench.generator,
        folder=built.folders[plan.target],
        cores=host.core_groups(plan.cores.target),
        port=bench.port,
        start_limit_s=bench.start_limit_s,
        backend=backend_of(workload, bench.targets, built, plan.cores),
        probes=probes,
        failed_share_max=bench.search.level.failed_share_max if bench.search else None,
    )
    return KINDS[target.kind].trial(job, observer)


def backend_of(workload: Workload, targets: Mapping[str, Target], built: Built, cores: Cores) -> Backend | None:
    """The server that answers behind the proxies of a workload, where that has one. It must have been built."""
    name = workload.backend
    return None if name is None else Backend(targets[name], built.folders[name], host.core_groups(cores.backend))


def _needed(bench: Bench) -> list[Target]:
    """What is measured, and the backends of proxies."""
    backends = [bench.workloads[trial.workload].backend for trial in bench.plan.trials]
    return [bench.targets[name] for name in dict.fromkeys([*_ids(bench.plan), *filter(None, backends)])]


def _is_to_be_probed(target: Target, trials: Sequence[Trial]) -> bool:
    """Once in a run. What ran before us is sent nothing but what was asked for: malformed requests may alarm somebody."""
    if not KINDS[target.kind].probes or target.url is not None:
        return False
    return not any(trial.probed for trial in trials if trial.plan.target == target.id)


def _upcoming(bench: Bench, made: Sequence[Trial]) -> Iterator[TrialPlan]:
    """Those of the plan, then those that follow from what was made."""
    yield from bench.plan.trials
    while bench.following and (plan := bench.following(made)):
        yield plan


def _begin(bench: Bench, built: Built, store: Store, observer: Observer) -> Outcome:
    ids = _ids(bench.plan)
    targets = {name: bench.targets[name] for name in ids}
    run = Run(
        id=f"{now()[:19].replace(':', '').replace('-', '')}-{secrets.token_hex(2)}",
        started_at=now(),
        finished_at=None,
        status=RunStatus.RUNNING,
        command=bench.command,
        environment=host.read_environment(_common_folder(targets.values()), built.versions),
        plan=bench.plan.trials,
        targets=targets,
        workloads={plan.workload: bench.workloads[plan.workload] for plan in bench.plan.trials},
        table=bench.table,
        baseline=bench.baseline,
        precision=bench.precision,
        measures_noise=bench.measures_noise,
        scale=bench.scale,
        search=bench.search,
        name=bench.name,
    )
    run = kept_run(run, Secrets.of(bench.targets.values(), bench.workloads.values()))
    outcome = Outcome(run)
    try:
        if not bench.measures_noise:
            outcome.run = run = _with_noise(run, store, observer)
        store.begin(run)
    except StoreError as error:
        _unstored(outcome, error, observer)
    return outcome


def _with_noise(run: Run, store: Store, observer: Observer) -> Run:
    """With what is known of this machine's noise, where that still holds."""
    noise = known_noise(store, run.environment)
    if noise is None:
        return run
    if reason := outdated(noise, run.environment):
        observer.warning(reason)
        return run
    return run.model_copy(update={"noise": noise})


def _keep(outcome: Outcome, trial: Trial, store: Store, observer: Observer) -> None:
    """Commits a trial. When that fails the run goes on: its figures are still printed and exported at the end."""
    if outcome.store_error is not None:
        return
    try:
        store.add(outcome.run.id, trial)
    except StoreError as error:
        _unstored(outcome, error, observer)


def _unstored(outcome: Outcome, error: StoreError, observer: Observer) -> None:
    outcome.store_error = error
    observer.warning(f"{error.message}: from here on results are not stored, only printed and exported at the end")


def _finish(outcome: Outcome, store: Store, status: RunStatus, observer: Observer) -> Outcome:
    outcome.run = outcome.run.model_copy(update={"status": status, "finished_at": now()})
    if outcome.store_error is None:
        try:
            store.finish(outcome.run.id, status, outcome.run.finished_at or now())
        except StoreError as error:
            outcome.store_error = error
            observer.warning(error.message)
    return outcome


def _common_folder(targets: Iterable[Target]) -> Path:
    """The folder that holds all of them, whose commit stands for their sources."""
    return Path(os.path.commonpath([target.folder for target in targets if target.run or target.url]))


def _ids(plan: Plan) -> list[str]:
    return list(dict.fromkeys(trial.target for trial in sorted(plan.trials, key=lambda trial: trial.number)))


@contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM, and the hang-up of a terminal, as an exception."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, interrupt) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
