"""One trial: start, wait for a right answer, warm up, measure while sampling, check, stop, judge."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from httpbench import probe
from httpbench.errors import HttpbenchError, LoadError
from httpbench.isolate import Stopped, ephemeral_ports, open_files_limit, tail
from httpbench.load import Job, LoadGenerator, Timer, Tool
from httpbench.model import ClientWork, Load, Probed, Settling, Target, Trial, TrialPlan, Verdict, VerdictKind, Workload
from httpbench.run.measure.generator import Driven, Subject, drive, warm_up
from httpbench.run.measure.warmup import settle
from httpbench.run.observer import Observer, Stage
from httpbench.run.start import START_LIMIT_S, Place, Served, serve
from httpbench.stats.verdict import ERROR_SHARE_LIMIT, Evidence, judge

OPEN_FILES_SPARE = 64
"""What a load generator has open beside its connections."""

PROBE_LIMIT_S = 0.8
"""For all that a probe sends; most servers take 0.3 s."""


@dataclass(frozen=True, slots=True)
class Backend:
    """The server behind a proxy."""

    target: Target
    folder: Path
    """Its build."""
    cores: Sequence[tuple[int, ...]]
    """Its physical cores."""


@dataclass(frozen=True, slots=True)
class TrialJob:
    """All that a trial needs to know."""

    plan: TrialPlan
    target: Target
    workload: Workload
    generator: Tool
    """A load generator, or a timer where the target is a client."""
    folder: Path
    """The target's build."""
    cores: Sequence[tuple[int, ...]]
    """The target's physical cores."""
    port: int | None = None
    start_limit_s: float = START_LIMIT_S
    backend: Backend | None = None
    """Of a proxy."""
    probes: bool = False
    """Whether to look at what the target does beyond the load, once that is over."""
    failed_share_max: float | None = None
    """Requests without a right answer that are part of what is asked for; ``None``: as few as a true figure may have."""

    @property
    def load_generator(self) -> LoadGenerator:
        assert isinstance(self.generator, LoadGenerator), "the command line chooses by kind"
        return self.generator

    @property
    def timer(self) -> Timer:
        assert isinstance(self.generator, Timer), "the command line chooses by kind"
        return self.generator

    @property
    def client_work(self) -> ClientWork:
        assert self.workload.client is not None, "the command line chooses by kind"
        return self.workload.client


Measure = Callable[[TrialJob, Path, str, Observer], Trial]
"""A trial of one kind of target, from an empty folder and the time at which it began."""


def run_trial(job: TrialJob, observer: Observer) -> Trial:
    """A trial of a server."""
    return make_trial(job, observer, _of_server)


def make_trial(job: TrialJob, observer: Observer, measure: Measure) -> Trial:
    """Makes a trial. What goes wrong becomes a trial that failed, with its reason; only an interruption is raised."""
    started_at = now()
    begin = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="httpbench-", ignore_cleanup_errors=True) as scratch, _kept_to(job.plan.cores.harness):
            trial = measure(job, Path(scratch), started_at, observer)
    except HttpbenchError as error:
        return failed(job.plan, error, started_at)
    except OSError as error:
        # What the machine does not give us (space, memory, processes) fails this trial, not all that follow.
        place = f": {error.filename}" if error.filename else ""
        return failed(job.plan, LoadError(f"the trial could not be made: {error.strerror or error}{place}"), started_at)
    load, settled_s = job.plan.load, trial.settling.duration_s if trial.settling else 0.0
    measured_s = trial.client.whole.wall_s if trial.client else settled_s + load.warmup_s + load.duration_s
    return trial.model_copy(update={"overhead_s": max(time.monotonic() - begin - measured_s, 0.0)})


@contextmanager
def _kept_to(cpus: Sequence[int]) -> Iterator[None]:
    """Keeps the harness, and the threads that it starts meanwhile, off the cores that are measured."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def failed(plan: TrialPlan, error: HttpbenchError, started_at: str | None = None) -> Trial:
    """A trial that has no figures, and why."""
    reason = f"{error.message}; {error.hint}" if error.hint else error.message
    verdict = Verdict(kind=VerdictKind.FAILED, reasons=(reason,))
    return Trial(plan=plan, started_at=started_at or now(), verdict=verdict, log_tail=error.log_tail)


def too_many_connections(load: Load) -> str | None:
    """Connections for which there are not enough descriptors, or local ports to connect from to one address."""
    files, ports = open_files_limit() - OPEN_FILES_SPARE, len(ephemeral_ports())
    if load.connections > files:
        return f"{load.connections:,} connections are too many: a program may open {files + OPEN_FILES_SPARE:,} files here (ulimit -Hn)"
    if load.connections > ports:
        return f"{load.connections:,} connections are too many: there are {ports:,} local ports (sysctl net.ipv4.ip_local_port_range)"
    return None


def now() -> str:
    """UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _of_server(job: TrialJob, scratch: Path, started_at: str, observer: Observer) -> Trial:
    for name in ("target", "generator"):
        (scratch / name).mkdir()
    observer.stage(Stage.START)
    place = Place(job.folder, scratch / "target", job.cores, job.port, job.start_limit_s)
    with serve(job.target, job.plan.scaling, job.workload, place) as served:
        return load_served(job, served, scratch / "generator", started_at, observer)


def load_served(
    job: TrialJob, served: Served, scratch: Path, started_at: str, observer: Observer, backend_guard_pid: int | None = None
) -> Trial:
    """Loads what answers, checks it, stops it, judges. ``backend_guard_pid``: of the tree behind it, which the caller stops."""
    begin = time.monotonic()
    load_job = _load_job(job, served, scratch)
    settling = _settle(load_job, served, observer) if job.plan.load.warmup_max_s else None
    driven = _drive(job, load_job, served, observer, backend_guard_pid)
    after = [] if driven.death else probe.check(served.host, served.port, _settled(job.workload, served))
    log_tail = tail(served.log)  # before a probe fills it with complaints
    probed = _probed(job, served, begin) if job.probes and not driven.death and not after else None
    observer.stage(Stage.STOP)
    stopped = served.stop()
    verdict = _verdict(job, driven, after, stopped)
    return Trial(
        plan=job.plan,
        started_at=started_at,
        verdict=verdict,
        measurement=driven.measurement,
        target_usage=driven.target_usage,
        generator_usage=driven.generator_usage,
        backend_usage=driven.backend_usage,
        settling=settling,
        occupancy=driven.occupancy,
        network=driven.network,
        response=served.response,
        probed=probed,
        log_tail=log_tail if verdict.reasons else None,
    )


def _settled(workload: Workload, served: Served) -> Workload:
    """Where any success would do, the one that came first is from then on the only right one."""
    if workload.expect.status is not None:
        return workload
    return workload.model_copy(update={"expect": workload.expect.model_copy(update={"status": served.response.status})})


def _probed(job: TrialJob, served: Served, begin: float) -> Probed:
    """After the load, so that nothing that a probe leaves behind in a target is in its figures."""
    age_s = time.monotonic() - begin
    return probe.observe(served.host, served.port, _settled(job.workload, served), served.response, age_s, PROBE_LIMIT_S)


def _load_job(job: TrialJob, served: Served, scratch: Path) -> Job:
    workload = _settled(job.workload, served)
    load_job = Job(served.url(workload.request.path), workload, job.plan.load, job.plan.cores.generator, scratch)
    refusal = job.load_generator.refuses(load_job)
    if refusal:
        raise LoadError(refusal)
    return load_job


def _settle(load_job: Job, served: Served, observer: Observer) -> Settling:
    observer.stage(Stage.WARM_UP)
    return settle(load_job, served.death, observer.progress)


def _drive(job: TrialJob, load_job: Job, served: Served, observer: Observer, backend_guard_pid: int | None) -> Driven:
    if job.plan.load.warmup_s and not job.load_generator.warms_up_itself:
        observer.stage(Stage.WARM_UP)
        warm_up(job.load_generator, load_job, served.death)
    observer.stage(Stage.MEASURE)
    subject = Subject(served.guard_pid, job.plan.cores, served.death, backend_guard_pid)
    return drive(job.load_generator, load_job, subject, observer.progress)


def _verdict(job: TrialJob, driven: Driven, after: list[str], stopped: Stopped) -> Verdict:
    """What limited the trial, with all that a reader must know beside the figures."""
    kind, reasons = VerdictKind.INVALID, list[str]()
    tolerated = job.failed_share_max
    if driven.measurement is not None:
        judged = judge(
            Evidence(
                measurement=driven.measurement,
                load=job.plan.load,
                cores=job.plan.cores,
                target_usage=driven.target_usage,
                generator_usage=driven.generator_usage,
                backend_usage=driven.backend_usage,
                occupancy=driven.occupancy,
                network=driven.network,
                scaling=job.plan.scaling,
                workload=job.workload,
                error_share_limit=ERROR_SHARE_LIMIT if tolerated is None else tolerated,
                wrong_share_limit=tolerated or 0.0,
            )
        )
        kind, reasons = judged.kind, list(judged.reasons)
    if driven.death:
        kind = VerdictKind.INVALID
        reasons.insert(0, f"the target died under the load ({driven.death})")
    if after:
        kind = VerdictKind.INVALID
        reasons.append(f"after the load the target {'; '.join(after)}")
    if stopped.problem:
        reasons.append(stopped.problem)  # its figures are true all the same
    if stopped.log_bytes_dropped:
        reasons.append(
            f"wrote {stopped.log_bytes_dropped / 1e6:,.0f} MB more to its log than is kept, in the time in which it was measured"
        )
    return Verdict(kind=kind, reasons=tuple(reasons))
