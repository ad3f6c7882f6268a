"""Start the server behind a proxy, and judge a proxy's trial with the observations of this server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from httpbench import http
from httpbench.errors import StartError
from httpbench.isolate import tail
from httpbench.model import ProxyMode, Reason, ReasonKind, Scaling, Trial, VerdictKind, Workload
from httpbench.run.load.place import BackendPlace
from httpbench.run.plan.run_plan import undeclared
from httpbench.run.proxy.handled import Handled, unrelayed
from httpbench.run.trial.context import HOST, START_LIMIT_S, StartContext
from httpbench.run.trial.inputs import TrialInputs, Upstream
from httpbench.run.trial.running import RunningTarget
from httpbench.run.trial.start import Inside, filled, start
from httpbench.run.trial.verdict import with_incident

BROKEN = ("unexpected_body", "unexpected_status", "invalid_response")
"""Errors that only the proxy can have caused, because the backend has already responded correctly."""

MISSING = ("timeout", "closed_early", "reset")
"""Errors with several possible causes. One of them is that the proxy lost bytes."""


def in_front_of(backend: RunningTarget, inputs: TrialInputs, scratch: Path) -> StartContext:
    """Return the context for starting a proxy that relays to the backend."""
    return replace(inputs.place(scratch), backend=(backend.host, backend.port))


def with_backend(trial: Trial, mode: ProxyMode, handled: Handled | None, death: str | None) -> Trial:
    """Return the trial of a proxy, judged again with the observations of its backend.

    Args:
        trial: The trial, with a verdict that doesn't consider the backend.
        mode: What the proxy relays.
        handled: What the backend handled during the trial, or ``None`` if the backend doesn't count.
        death: How the backend ended during the trial, or ``None``.
    """
    if death is not None:
        return with_incident(trial, Reason.of(ReasonKind.BACKEND_DIED_UNDER_LOAD, death=death))
    counts = {"backend_requests": handled.requests, "backend_connections": handled.connections} if handled else {}
    trial = trial.model_copy(update={"observed": trial.observed.model_copy(update=counts)})
    problem = unrelayed(trial, handled, mode)
    return _explained(with_incident(trial, problem) if problem else trial)


def started_backend(
    backend: Upstream,
    workload: Workload,
    scratch: Path,
    start_limit_s: float = START_LIMIT_S,
    address: str = HOST,
    transport: http.Transport = http.PLAIN,
    port: int | None = None,
) -> AbstractContextManager[RunningTarget]:
    """Run the backend on all its cores until the block ends. ``port`` is its port, or ``None`` for any free port.

    Raises :class:`StartError` if the backend doesn't serve such requests.
    """
    if protocol := undeclared(backend.target, tls=transport.trust is not None, http2=transport.http2):
        raise StartError(f"its backend, {backend.target.id}, does not declare {protocol} in its target.toml")
    if backend.place is not None:
        if transport != http.PLAIN:
            raise StartError("a backend on a load host serves only plain HTTP/1.1", hint="remove --backend-host load")
        return _started_there(backend, backend.place, workload, scratch, start_limit_s)
    place = StartContext(backend.folder, scratch, backend.cores, port, start_limit_s, address=address, transport=transport)
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


def _explained(trial: Trial) -> Trial:
    """Add an explanation to the trial if the proxy might have caused wrong or missing responses."""
    measurement = trial.measurement
    if measurement is None or trial.verdict.counts or trial.plan.load.fault is not None:
        return trial
    if any(measurement.errors.get(kind) for kind in BROKEN):
        return with_incident(trial, Reason.of(ReasonKind.BYTES_DIFFER))
    if trial.verdict.kind is not VerdictKind.DISTURBED and any(measurement.errors.get(kind) for kind in MISSING):
        return with_incident(trial, Reason.of(ReasonKind.BYTES_MAY_BE_LOST, target=trial.plan.target), last=True)
    return trial
