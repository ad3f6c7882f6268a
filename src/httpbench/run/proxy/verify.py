"""Check the contract of a proxy, first between a test client and a test backend, then under load in front of its backend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from httpbench import contract, host, http
from httpbench.host.scratch import scratch_folder
from httpbench.model import Conformance, Cores, ProxyMode, ProxyOutcome, SampledResponse, Scaling, Target, Workload
from httpbench.run.load.conformance import conformance, h2spec
from httpbench.run.load.contract_load import CONNECTIONS, REQUESTS, problem_under_load
from httpbench.run.proxy.backend import started_backend
from httpbench.run.proxy.handled import handled_by
from httpbench.run.trial.context import HOST, StartContext
from httpbench.run.trial.frame import folders_in
from httpbench.run.trial.inputs import Upstream
from httpbench.run.trial.running import RunningTarget
from httpbench.run.trial.start import start
from httpbench.run.trial.verified import Verified, ends_in_time, stays_alive, verified


def verify_proxy(
    target: Target,
    scaling: Scaling,
    workload: Workload,
    folder: Path,
    cores: Cores,
    backend: Upstream | None,
    transport: http.Transport = http.PLAIN,
) -> Verified:
    """Start a built proxy, check its contract, and stop it."""
    assert backend is not None, "a proxy is verified in front of a backend"
    ambiguous: dict[str, ProxyOutcome] = {}
    checks = _checks(target, scaling, workload, folder, cores, backend, transport, ambiguous)
    return replace(verified(target, scaling, checks), ambiguous=ambiguous)


def _checks(
    target: Target,
    scaling: Scaling,
    workload: Workload,
    folder: Path,
    cores: Cores,
    backend: Upstream,
    transport: http.Transport,
    ambiguous: dict[str, ProxyOutcome],
) -> Iterator[contract.Check]:
    """Yield each check. ``ambiguous`` receives what a proxy in HTTP mode does with ambiguous requests, which isn't part of the contract."""
    with scratch_folder() as scratch:
        first, second, behind, generators = folders_in(scratch, "first", "second", "backend", "generator")
        place = StartContext(folder, first, host.core_groups(cores.target), transport=transport)
        with contract.RecordingBackend() if target.mode is ProxyMode.HTTP else contract.ScriptedBackend() as opposite:
            in_front = replace(place, backend=(HOST, opposite.port))
            with start(target, scaling, contract.HELLO_WORKLOAD, in_front) as running:
                if isinstance(opposite, contract.RecordingBackend):
                    server = running.server(contract.HELLO_WORKLOAD)
                    yield from contract.check_http_proxy(server, opposite, target.limits)
                    if transport == http.PLAIN:
                        ambiguous |= contract.ambiguous_outcomes(server, opposite)
                else:
                    yield from contract.check_proxy(HOST, running.port, opposite, target.limits)
                yield stays_alive(running)
                stopped = running.stop()
        yield ends_in_time(stopped)
        with started_backend(backend, workload, behind) as usual:
            in_front = replace(place, scratch=second, backend=(usual.host, usual.port))
            with start(target, scaling, workload, in_front) as running:
                problem, responses = problem_under_load(running, workload, cores, generators)
                running.stop()
            handled = handled_by(usual, backend.target.counter)
        yield contract.Check(f"relays {REQUESTS:,} responses over {CONNECTIONS} connections without changing a byte", problem)
        without = None
        if handled is not None and handled.requests < responses:
            without = f"the backend handled {handled.requests:,} requests for {responses:,} responses"
        yield contract.Check("asks the backend for each of them", without)


def sample_proxy(
    target: Target,
    scaling: Scaling,
    workload: Workload,
    folder: Path,
    cores: Cores,
    backend: Upstream | None,
    transport: http.Transport = http.PLAIN,
) -> SampledResponse:
    """Request one response from the backend through a built proxy, and return it. Raises :class:`HttpbenchError`."""
    with _in_front_of(backend, target, scaling, workload, folder, cores, transport) as (running, _):
        running.stop()
        return running.response


def conformance_of_proxy(
    target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores, backend: Upstream | None, transport: http.Transport
) -> Conformance | None:
    """Run h2spec on a built proxy, and return its result, or ``None`` if it isn't installed. Raises :class:`HttpbenchError`."""
    program = h2spec()
    if program is None:
        return None
    with _in_front_of(backend, target, scaling, workload, folder, cores, transport) as (running, own):
        return conformance(program, running, workload, own)


@contextmanager
def _in_front_of(
    backend: Upstream | None,
    target: Target,
    scaling: Scaling,
    workload: Workload,
    folder: Path,
    cores: Cores,
    transport: http.Transport,
) -> Iterator[tuple[RunningTarget, Path]]:
    """Start a built proxy in front of its backend, and yield it with an empty folder. Both run until the block ends."""
    assert backend is not None, "a proxy runs in front of a backend"
    with scratch_folder() as scratch:
        own, behind, empty = folders_in(scratch, "target", "backend", "empty")
        with started_backend(backend, workload, behind) as server:
            at = (server.host, server.port)
            place = StartContext(folder, own, host.core_groups(cores.target), backend=at, transport=transport)
            with start(target, scaling, workload, place) as running:
                yield running, empty
