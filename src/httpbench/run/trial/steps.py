"""The steps that trials of servers and proxies share once the target runs: warm up, measure, check, probe, stop, judge."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from httpbench import http, probe
from httpbench.load import Job
from httpbench.model import Commands, Learned, MixPart, Probed, Settling, Trial, Workload
from httpbench.run.database.running import RunningDatabase
from httpbench.run.load.generator import Subject, UnderLoad, run_generator
from httpbench.run.load.quiet import polling_threads, polling_threads_again
from httpbench.run.load.warmup import warm_up_for_fixed_time, warm_up_until_steady
from httpbench.run.observer import Observer, Stage
from httpbench.run.trial.inputs import TrialInputs
from httpbench.run.trial.start import RunningTarget
from httpbench.run.trial.verdict import criteria_of, incidents_of
from httpbench.sample import accept_queue
from httpbench.stats.verdict import UNJUDGED, judged

PROBE_LIMIT_S = 0.8
"""Time limit for a probe, in seconds; most servers take 0.3 s."""


def measure(
    inputs: TrialInputs,
    running: RunningTarget,
    scratch: Path,
    observer: Observer,
    backend: RunningTarget | None = None,
    database: RunningDatabase | None = None,
) -> Trial:
    """Make a trial of a running target, and stop the target.

    ``backend`` is the server behind a proxy. The caller stops the backend and the database.
    """
    begin = time.monotonic()
    workload, learned = _expected(inputs, running)
    inputs = replace(inputs, workload=workload)
    job = Job(running.url(workload.request.path), workload, inputs.plan.load, inputs.generator_cpus, scratch)
    polling = polling_threads(running)
    settling = _until_steady(inputs, job, running, observer) if inputs.plan.load.warmup_max_s else None
    running.require_alive("during the warm-up")
    under_load = _under_load(inputs, job, Subject(running, inputs.plan.cores, backend, database), observer)
    polling = None if under_load.death else polling_threads_again(running, polling)
    problems = [] if under_load.death else _problems_after(running, workload)
    log_tail = running.log_tail()  # before a probe fills it with error messages
    probed = _probed(running, workload, begin) if inputs.probes and not under_load.death and not problems else None
    queue = None if inputs.target.url is not None or running.there is not None else accept_queue(running.port)
    observer.stage(Stage.STOP)
    stopped = running.stop()
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
            accept_queue=queue,
            probed=probed,
            container=running.contained,
            commands=Commands(target=running.argv, copies=running.copies, load=under_load.command),
        )
    )
    return trial.model_copy(update={"log_tail": log_tail}) if trial.verdict.reasons else trial


def _expected(inputs: TrialInputs, running: RunningTarget) -> tuple[Workload, Learned | None]:
    """Return the workload with its only correct response, and what was learned about it.

    If any successful response is correct, the first three determine it. If they disagree, only the status of the first one does.
    """
    workload = inputs.workload
    if workload.parts:
        return _expected_mix(workload, running), None
    if http.is_learned(workload) and (found := http.learn(running.host, running.port, workload, inputs.learned)):
        return found
    return http.with_status(workload, running.response.status), None


def _expected_mix(workload: Workload, running: RunningTarget) -> Workload:
    """Return the mix with the only correct response of each workload that has one."""
    parts = []
    for part in workload.parts:
        found = http.learn(running.host, running.port, part.workload) if http.is_learned(part.workload) else None
        parts.append(MixPart.of(part.weight, found[0]) if found else part)
    return workload.model_copy(update={"parts": tuple(parts)})


def _problems_after(running: RunningTarget, workload: Workload) -> list[str]:
    """Return the problems of a response after the load; for a mix, of one response to each workload."""
    found = [(each, http.check(running.host, running.port, each)) for each in workload.each]
    return [f"{each.name}: {problem}" if workload.parts else problem for each, problems in found for problem in problems]


def _until_steady(inputs: TrialInputs, job: Job, running: RunningTarget, observer: Observer) -> Settling:
    observer.stage(Stage.WARM_UP)
    return warm_up_until_steady(job, running.death, observer.progress, inputs.load_place)


def _under_load(inputs: TrialInputs, job: Job, subject: Subject, observer: Observer) -> UnderLoad:
    generator, running = inputs.load_generator, subject.target
    if job.load.warmup_s and not generator.warms_up_itself:
        observer.stage(Stage.WARM_UP)
        warm_up_for_fixed_time(generator, job, running.death, inputs.load_place)
        running.require_alive("during the warm-up")
    observer.stage(Stage.MEASURE)
    return run_generator(generator, job, subject, observer.progress, inputs.load_place)


def _probed(running: RunningTarget, workload: Workload, begin: float) -> Probed:
    """Probe the target after the load, so that side effects of the probe can't affect the results."""
    age_s = time.monotonic() - begin
    return probe.observe(running.host, running.port, workload, running.response, age_s, PROBE_LIMIT_S)
