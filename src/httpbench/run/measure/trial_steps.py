"""The steps that trials of servers and proxies share, once the target runs: warm up, measure, check, probe, stop, judge."""

from __future__ import annotations

import time
from pathlib import Path

from httpbench import http, probe
from httpbench.isolate import tail
from httpbench.load import Job
from httpbench.model import Probed, Settling, Trial, Workload
from httpbench.run.inputs import TrialInputs
from httpbench.run.measure.generator import Subject, UnderLoad, run_generator
from httpbench.run.measure.verdict import verdict_of
from httpbench.run.measure.warmup import warm_up_for_fixed_time, warm_up_until_steady
from httpbench.run.observer import Observer, Stage
from httpbench.run.start import RunningTarget

PROBE_LIMIT_S = 0.8
"""For all that a probe sends; most servers take 0.3 s."""


def measure(inputs: TrialInputs, running: RunningTarget, scratch: Path, observer: Observer, backend_guard_pid: int | None = None) -> Trial:
    """A trial of a target that runs, which it stops. ``backend_guard_pid``: of the backend's processes, which the caller stops."""
    begin = time.monotonic()
    workload = _with_known_status(inputs.workload, running)
    job = Job(running.url(workload.request.path), workload, inputs.plan.load, inputs.plan.cores.generator, scratch)
    settling = _until_steady(job, running, observer) if inputs.plan.load.warmup_max_s else None
    under_load = _under_load(inputs, job, running, observer, backend_guard_pid)
    problems = [] if under_load.death else http.check(running.host, running.port, workload)
    log_tail = tail(running.log)  # before a probe fills it with complaints
    probed = _probed(running, workload, begin) if inputs.probes and not under_load.death and not problems else None
    observer.stage(Stage.STOP)
    stopped = running.stop()
    verdict = verdict_of(inputs, under_load, problems, stopped)
    return Trial(
        plan=inputs.plan,
        started_at=inputs.started_at,
        verdict=verdict,
        measurement=under_load.measurement,
        target_usage=under_load.target_usage,
        generator_usage=under_load.generator_usage,
        backend_usage=under_load.backend_usage,
        settling=settling,
        occupancy=under_load.occupancy,
        network=under_load.network,
        response=running.response,
        probed=probed,
        log_tail=log_tail if verdict.reasons else None,
    )


def _with_known_status(workload: Workload, running: RunningTarget) -> Workload:
    """If any success is correct, the status of the first response is from then on the only correct one."""
    if workload.expect.status is not None:
        return workload
    return workload.model_copy(update={"expect": workload.expect.model_copy(update={"status": running.response.status})})


def _until_steady(job: Job, running: RunningTarget, observer: Observer) -> Settling:
    observer.stage(Stage.WARM_UP)
    return warm_up_until_steady(job, running.death, observer.progress)


def _under_load(inputs: TrialInputs, job: Job, running: RunningTarget, observer: Observer, backend_guard_pid: int | None) -> UnderLoad:
    generator = inputs.load_generator
    if job.load.warmup_s and not generator.warms_up_itself:
        observer.stage(Stage.WARM_UP)
        warm_up_for_fixed_time(generator, job, running.death)
    observer.stage(Stage.MEASURE)
    subject = Subject(running.guard_pid, inputs.plan.cores, running.death, backend_guard_pid)
    return run_generator(generator, job, subject, observer.progress)


def _probed(running: RunningTarget, workload: Workload, begin: float) -> Probed:
    """After the load: whatever a probe leaves behind in a target is not in its figures."""
    age_s = time.monotonic() - begin
    return probe.observe(running.host, running.port, workload, running.response, age_s, PROBE_LIMIT_S)
