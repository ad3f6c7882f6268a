"""Run one trial of a proxy: start the backend and then the proxy, load the proxy, and stop both. For the baseline, the backend runs alone.

The baseline is measured like a proxy: in each round, under each load and on the same cores. Each proxy is compared with the baseline of the
same round, because a disturbance during that round probably affects both trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from httpbench import http
from httpbench.errors import StartError
from httpbench.isolate import tail
from httpbench.model import Build, Kind, Reason, ReasonKind, Request, Scaling, Target, Trial, TrialPlan, Tuning, VerdictKind, Workload
from httpbench.run.load.place import BackendPlace
from httpbench.run.observer import Observer, Stage
from httpbench.run.trial.context import HOST, START_LIMIT_S, StartContext
from httpbench.run.trial.frame import folders_in
from httpbench.run.trial.inputs import TrialInputs, Upstream
from httpbench.run.trial.running import RunningTarget
from httpbench.run.trial.start import Inside, filled, start
from httpbench.run.trial.steps import measure
from httpbench.run.trial.verdict import with_incident
from httpbench.stats.verdict import judged

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
"""Target that replaces the proxy, so that the load goes directly to the backend."""

BROKEN = ("unexpected_body", "unexpected_status", "invalid_response")
"""Errors that only the proxy can have caused, because the backend has already responded correctly."""

MISSING = ("timeout", "closed_early", "reset")
"""Errors with several possible causes. One of them is that the proxy lost bytes."""


def measure_proxy(inputs: TrialInputs, scratch: Path, observer: Observer) -> Trial:
    """Run a trial of a proxy or of the baseline. ``scratch`` must be an empty folder."""
    assert inputs.backend is not None, "a proxy is measured in front of a backend"
    folders_in(scratch, "backend", "target", "generator")
    observer.stage(Stage.START)
    with started_backend(inputs.backend, inputs.workload, scratch / "backend", inputs.start_limit_s, inputs.address) as backend:
        if inputs.target.id == BASELINE.id:
            return as_baseline(measure(direct(inputs), backend, scratch / "generator", observer), inputs.plan)
        with start(inputs.target, inputs.plan.scaling, inputs.workload, in_front_of(backend, inputs, scratch / "target")) as running:
            trial = measure(inputs, running, scratch / "generator", observer, backend)
        death = backend.death()
        handled = None if death else requests_handled(backend, inputs.backend.target.counter)
        if not death:
            backend.stop()
    return with_backend(trial, handled, death)


def in_front_of(backend: RunningTarget, inputs: TrialInputs, scratch: Path) -> StartContext:
    """Return the context for starting a proxy that relays to the backend."""
    return replace(inputs.place(scratch), backend=(backend.host, backend.port))


def with_backend(trial: Trial, handled: int | None, death: str | None) -> Trial:
    """Return the trial of a proxy, judged again with the observations of its backend.

    Args:
        trial: The trial, with a verdict that doesn't consider the backend.
        handled: Number of requests that the backend handled during the trial, or ``None`` if the backend doesn't count them.
        death: How the backend ended during the trial, or ``None``.
    """
    if death is not None:
        return with_incident(trial, Reason.of(ReasonKind.BACKEND_DIED_UNDER_LOAD, death=death))
    observed = trial.observed.model_copy(update={"backend_requests": handled})
    return _explained(_proven(trial.model_copy(update={"observed": observed})))


def started_backend(
    backend: Upstream, workload: Workload, scratch: Path, start_limit_s: float = START_LIMIT_S, address: str = HOST
) -> AbstractContextManager[RunningTarget]:
    """Run the backend on all its cores until the block ends."""
    if backend.place is not None:
        return _started_there(backend, backend.place, workload, scratch, start_limit_s)
    place = StartContext(backend.folder, scratch, backend.cores, None, start_limit_s, address=address)
    return start(backend.target, Scaling.MULTI, workload, place)


@contextmanager
def _started_there(
    backend: Upstream, place: BackendPlace, workload: Workload, scratch: Path, start_limit_s: float
) -> Iterator[RunningTarget]:
    """Run the backend on the load host. The proxy gets the cores that the backend would have used on this machine.

    Raises :class:`StartError` with the tail of the backend's log, or :class:`~httpbench.errors.LostHostError`.
    """

    def fill(host: str, port: int, workers: int, own_scratch: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
        return filled(backend.target, StartContext(backend.folder, scratch, ()), Inside(host, port, workers, own_scratch))

    log = scratch / "target.log"
    with place.serve(fill, backend.folder) as server:
        try:
            response = http.wait_until_correct(server.host, server.port, workload, start_limit_s, lambda: server.death() is None)
        except StartError as error:
            log.write_text(server.log())
            error.log_tail = tail(log)
            raise
        yield RunningTarget(None, server.host, server.port, response, log, there=server)


def direct(inputs: TrialInputs) -> TrialInputs:
    """Convert the inputs of the baseline's trial into inputs of a trial in which the backend is loaded directly."""
    cores = inputs.plan.cores
    own = cores.model_copy(update={"target": cores.backend, "backend": (), "shared": cores.backend_shared})
    return replace(inputs, plan=inputs.plan.model_copy(update={"cores": own, "scaling": Scaling.MULTI}))


def as_baseline(trial: Trial, planned: TrialPlan) -> Trial:
    """Convert the trial of the directly loaded backend into the baseline's trial, where CPU time and memory are the backend's usage."""
    observed = trial.observed.model_copy(update={"target_usage": None, "backend_usage": trial.observed.target_usage})
    return judged(trial.model_copy(update={"plan": planned, "observed": observed}))


def requests_handled(backend: RunningTarget, path: str | None) -> int | None:
    """Return how many requests a backend has handled, or ``None`` if it doesn't count them."""
    if path is None:
        return None
    try:
        page, _ = http.exchange(backend.host, backend.port, Request(path=path))
        return int(page.body.splitlines()[2].split()[2])
    except (http.ExchangeError, OSError, ValueError, IndexError):
        return None


def _proven(trial: Trial) -> Trial:
    """Make the trial invalid if the backend handled fewer requests than the proxy answered. Both numbers include the warm-up."""
    handled, responses = trial.observed.backend_requests, trial.responses
    if handled is None or handled >= responses:
        return trial
    return with_incident(trial, Reason.of(ReasonKind.BACKEND_NOT_ASKED, requests=handled, responses=responses))


def _explained(trial: Trial) -> Trial:
    """Add an explanation to the trial if the proxy might have caused wrong or missing responses."""
    measurement = trial.measurement
    if measurement is None or trial.verdict.counts:
        return trial
    if any(measurement.errors.get(kind) for kind in BROKEN):
        return with_incident(trial, Reason.of(ReasonKind.BYTES_DIFFER))
    if trial.verdict.kind is not VerdictKind.DISTURBED and any(measurement.errors.get(kind) for kind in MISSING):
        return with_incident(trial, Reason.of(ReasonKind.BYTES_MAY_BE_LOST, target=trial.plan.target), last=True)
    return trial
