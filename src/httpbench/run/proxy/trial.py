"""One trial of a proxy: its backend first, then the proxy, the load through it, and the end of both. Or the backend alone: the baseline.

The baseline is a trial like the others, made in each round under each load, on the same cores: what a proxy adds is the difference to the
baseline of its own round, so that what the machine did in that minute is in both.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from httpbench.model import Build, Cores, Kind, Scaling, Target, Trial, Tuning, Verdict, VerdictKind, Workload
from httpbench.run.observer import Observer, Stage
from httpbench.run.start import START_LIMIT_S, Place, Served, serve
from httpbench.run.trial import Backend, TrialJob, load_served, make_trial

BASELINE = Target(
    id="baseline",
    kind=Kind.PROXY,
    language="none",
    framework="baseline",
    category=None,
    tuning=Tuning.DEFAULT,
    upstream=None,
    notes="The backend itself, without a proxy.",
    build=Build(),
    run=(),
    scaling=(Scaling.SINGLE, Scaling.MULTI),
    folder="/",
)
"""Stands where a proxy would: the load goes to the backend directly."""

BROKEN = ("unexpected_body", "unexpected_status", "invalid_response")
"""Errors that only bytes on the way can make: the backend answered rightly before."""

MISSING = ("timeout", "closed_early", "reset")
"""Errors that a lost byte makes, among other things."""

WHAT_FAILED = "bytes were lost, changed or invented on the way between backend and load generator"


def run_proxy_trial(job: TrialJob, observer: Observer) -> Trial:
    """Makes a trial of a proxy, or of the baseline. What goes wrong becomes a trial that failed; only an interruption is raised."""
    return make_trial(job, observer, _of_proxy)


def _of_proxy(job: TrialJob, scratch: Path, started_at: str, observer: Observer) -> Trial:
    assert job.backend is not None, "a proxy is measured in front of a backend"
    for name in ("backend", "target", "generator"):
        (scratch / name).mkdir()
    observer.stage(Stage.START)
    with started_backend(job.backend, job.workload, scratch / "backend", job.start_limit_s) as backend:
        if job.target.id == BASELINE.id:
            return _baseline(job, backend, scratch, started_at, observer)
        place = Place(job.folder, scratch / "target", job.cores, job.port, job.start_limit_s, (backend.host, backend.port))
        with serve(job.target, job.plan.scaling, job.workload, place) as served:
            trial = load_served(job, served, scratch / "generator", started_at, observer, backend.guard_pid)
        if (death := backend.death()) is not None:
            return _doubted(trial, f"the backend died under the load ({death})")
        backend.stop()
    return _explained(trial)


def started_backend(
    backend: Backend, workload: Workload, scratch: Path, start_limit_s: float = START_LIMIT_S
) -> AbstractContextManager[Served]:
    """The backend, answering; on all the cores that it is given."""
    return serve(backend.target, Scaling.MULTI, workload, Place(backend.folder, scratch, backend.cores, None, start_limit_s))


def _baseline(job: TrialJob, backend: Served, scratch: Path, started_at: str, observer: Observer) -> Trial:
    """What the load is put on is the backend, on the backend's cores; what it costs is the backend's."""
    plan, cores = job.plan, job.plan.cores
    own = Cores(target=cores.backend, generator=cores.generator, harness=cores.harness, shared=cores.backend_shared)
    as_target = replace(job, plan=plan.model_copy(update={"cores": own, "scaling": Scaling.MULTI}))
    trial = load_served(as_target, backend, scratch / "generator", started_at, observer)
    verdict = trial.verdict
    if verdict.kind is VerdictKind.TARGET:
        verdict = verdict.model_copy(update={"kind": VerdictKind.BACKEND})
    return trial.model_copy(update={"plan": plan, "verdict": verdict, "target_usage": None, "backend_usage": trial.target_usage})


def _explained(trial: Trial) -> Trial:
    """What failed through a proxy and would not have failed without: answers that broke on the way, or never came."""
    measurement = trial.measurement
    if measurement is None or trial.verdict.counts:
        return trial
    if any(measurement.errors.get(kind) for kind in BROKEN):
        return _doubted(trial, WHAT_FAILED)
    if any(measurement.errors.get(kind) for kind in MISSING):
        verdict = trial.verdict
        hint = f"httpbench verify {trial.plan.target} says what becomes of the bytes"
        return trial.model_copy(update={"verdict": verdict.model_copy(update={"reasons": (*verdict.reasons, hint)})})
    return trial


def _doubted(trial: Trial, reason: str) -> Trial:
    verdict = Verdict(kind=VerdictKind.INVALID, reasons=(reason, *trial.verdict.reasons))
    return trial.model_copy(update={"verdict": verdict})
