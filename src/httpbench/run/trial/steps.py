"""The steps that trials of servers and proxies share once the target runs: warm up, measure, check, probe, stop, judge."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from httpbench.databases import UPDATE
from httpbench.load import Job, Progress
from httpbench.model import Commands, Probed, Settling, Startup, Trial, Trust, Workload
from httpbench.run.builds.installed import installed_bytes
from httpbench.run.load.generator import Report, UnderLoad, run_generator
from httpbench.run.load.meters import Subject
from httpbench.run.load.quiet import polling_threads, polling_threads_again
from httpbench.run.load.warmup import warm_up_for_fixed_time, warm_up_until_steady
from httpbench.run.observer import Observer, Stage
from httpbench.run.trial.expected import Expected, expected, problems_after
from httpbench.run.trial.inputs import TrialInputs
from httpbench.run.trial.running import RunningTarget, usage_now
from httpbench.run.trial.startup import WINDOW_S
from httpbench.run.trial.verdict import criteria_of, incidents_of
from httpbench.sample import Current, accept_queue
from httpbench.stats import failover
from httpbench.stats.verdict import UNJUDGED, judged

if TYPE_CHECKING:
    from httpbench.run.database.running import RunningDatabase

PROBE_LIMIT_S = 0.8
"""Time limit for a probe, in seconds. Most probes take 0.3 s."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A running target that is ready for its load."""

    inputs: TrialInputs
    """Inputs of the trial. If the correct response was learned, their workload contains it."""
    running: RunningTarget
    job: Job
    expected: Expected
    polling: float | None
    """Number of the target's busy threads before the load, or ``None`` if unknown."""
    begin_s: float
    """Time at which the preparation of the load began, in seconds on the monotonic clock."""


def measure(
    inputs: TrialInputs,
    running: RunningTarget,
    scratch: Path,
    observer: Observer,
    backend: RunningTarget | None = None,
    database: RunningDatabase | None = None,
    heard: Callable[[Progress], None] = lambda _: None,
) -> Trial:
    """Run a trial of a running target, and stop the target.

    ``backend`` is the server behind a proxy. The caller stops the backend and the database. ``heard`` is called with each progress report
    of the measurement.
    """
    ready = prepared(inputs, running, scratch)
    settling = _until_steady(ready, observer)
    subject = Subject(running, inputs.plan.cores, backend, database, inputs.target.mode)

    def report(progress: Progress, current: Callable[[], Current] | None) -> None:
        heard(progress)
        observer.progress(progress, current)

    under_load = _under_load(ready.inputs, ready.job, subject, observer, report)
    startup = _startup(ready, under_load, observer)
    return concluded(ready, settling, under_load, observer).model_copy(update={"startup": startup})


def prepared(inputs: TrialInputs, running: RunningTarget, scratch: Path, *, in_slices: bool = False) -> Ready:
    """Learn the correct response of a running target, and prepare its load."""
    begin_s = time.monotonic()
    correct = expected(inputs, running)
    workload = correct.workload
    inputs = replace(inputs, workload=workload)
    url, load, cpus = running.url(workload.request.path), inputs.plan.load, inputs.generator_cpus
    trust, unix_socket = running.transport.trust or Trust(), running.transport.unix_socket
    fresh = inputs.backend is not None and not any(each.asked == UPDATE for each in workload.each)
    interval_s = WINDOW_S if load.is_of_startup else failover.INTERVAL_S if load.fault else None
    slow_s = failover.SLOW_S if load.fault else None
    job = Job(url, workload, load, cpus, scratch, interval_s, slow_s, in_slices, fresh, trust, unix_socket)
    return Ready(inputs, running, job, correct, polling_threads(running), begin_s)


def _until_steady(ready: Ready, observer: Observer) -> Settling | None:
    """Warm the target up until its throughput is steady, or return ``None`` if the warm-up has a fixed length."""
    settling = None
    if ready.job.load.warmup_max_s:
        observer.stage(Stage.WARM_UP)
        settling = warm_up_until_steady(ready.job, ready.running.death, observer.progress, ready.inputs.load_place)
    ready.running.require_alive("during the warm-up")
    return settling


def _startup(ready: Ready, under_load: UnderLoad, observer: Observer) -> Startup | None:
    """Let the target rest after its load, and return how it started, or ``None`` if start-up isn't measured."""
    running, rest_s = ready.running, ready.job.load.rest_s
    if running.started is None or rest_s is None:
        return None
    rested = None
    if under_load.death is None and (sampler := running.sampler()):
        observer.stage(Stage.REST)
        time.sleep(rest_s)
        rested = usage_now(sampler)
    return running.started.startup(under_load.measurement, rested, installed_bytes(ready.inputs.target, ready.inputs.folder))


def concluded(ready: Ready, settling: Settling | None, under_load: UnderLoad, observer: Observer) -> Trial:
    """Check the target after its load, probe it, stop it, and return the trial with its verdict."""
    inputs, running, workload = ready.inputs, ready.running, ready.inputs.workload
    polling = None if under_load.death else polling_threads_again(running, ready.polling)
    problems = [] if under_load.death else problems_after(running, workload)
    log_tail = running.log_tail()  # read the log before a probe fills it with error messages
    is_fine = not under_load.death and not problems
    seen_by_probe = (
        probed(running, workload, ready.begin_s, PROBE_LIMIT_S)
        if inputs.probes and is_fine and not (inputs.plan.load.http2 or workload.sse)
        else None
    )
    queue = None if inputs.target.url is not None or running.there is not None else accept_queue(running.port)
    observer.stage(Stage.STOP)
    stopped = running.stop()
    learned = ready.expected.learned
    alike_bytes = running.response.size_bytes if learned and learned.body_bytes is not None else None
    seen = {"target_polling_threads": polling, "incidents": incidents_of(under_load, problems, stopped)}
    trial = judged(
        Trial(
            plan=inputs.plan,
            started_at=inputs.started_at,
            verdict=UNJUDGED,
            measurement=under_load.measurement,
            observed=under_load.observed.model_copy(update=seen),
            criteria=criteria_of(inputs, alike_bytes),
            settling=settling,
            response=running.response,
            learned=learned,
            learned_requests=ready.expected.requests,
            accept_queue=queue,
            probed=seen_by_probe,
            container=running.contained,
            commands=Commands(target=running.argv, copies=running.copies, load=under_load.command),
        )
    )
    return trial.model_copy(update={"log_tail": log_tail}) if trial.verdict.reasons else trial


def _under_load(inputs: TrialInputs, job: Job, subject: Subject, observer: Observer, report: Report) -> UnderLoad:
    generator, running = inputs.load_generator, subject.target
    if job.load.warmup_s and not generator.warms_up_itself:
        observer.stage(Stage.WARM_UP)
        warm_up_for_fixed_time(generator, job, running.death, inputs.load_place)
        running.require_alive("during the warm-up")
    if subject.database:
        subject.database.mark(inputs.workload)  # after warm-ups by programs that don't report their responses
    observer.stage(Stage.MEASURE)
    return run_generator(generator, job, subject, report, inputs.load_place)


def probed(running: RunningTarget, workload: Workload, begin_s: float, limit_s: float) -> Probed:
    """Probe a target for at most ``limit_s`` seconds.

    ``begin_s`` is the time just after the target's first response, on the monotonic clock. Call this function after the load, so that side
    effects of the probe can't affect the results.
    """
    age_s = time.monotonic() - begin_s
    from httpbench import probe

    return probe.observe(running.server(workload), running.response, age_s, limit_s)
