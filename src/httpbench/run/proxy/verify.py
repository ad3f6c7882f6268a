"""Check the contract of a proxy, first between a test client and a test backend, then under load in front of its backend."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from httpbench import contract, host
from httpbench.host.scratch import scratch_folder
from httpbench.model import Cores, SampledResponse, Scaling, Target, Workload
from httpbench.run.load.contract_load import CONNECTIONS, REQUESTS, problem_under_load
from httpbench.run.proxy.trial import started_backend
from httpbench.run.trial.context import HOST, StartContext
from httpbench.run.trial.frame import folders_in
from httpbench.run.trial.inputs import Upstream
from httpbench.run.trial.start import start
from httpbench.run.trial.verified import Verified, ends_in_time, stays_alive, verified


def verify_proxy(target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores, backend: Upstream | None) -> Verified:
    """Start a built proxy, check its contract, and stop it."""
    assert backend is not None, "a proxy is verified in front of a backend"
    return verified(target, scaling, _checks(target, scaling, workload, folder, cores, backend))


def _checks(
    target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores, backend: Upstream
) -> Iterator[contract.Check]:
    groups = host.core_groups(cores.target)
    with scratch_folder() as scratch:
        first, second, behind, generators = folders_in(scratch, "first", "second", "backend", "generator")
        with contract.ScriptedBackend() as scripted:
            place = StartContext(folder, first, groups, backend=(HOST, scripted.port))
            with start(target, scaling, contract.HELLO_WORKLOAD, place) as running:
                yield from contract.check_proxy(HOST, running.port, scripted, target.limits)
                yield stays_alive(running)
                stopped = running.stop()
        yield ends_in_time(stopped)
        with started_backend(backend, workload, behind) as server:
            place = StartContext(folder, second, groups, backend=(server.host, server.port))
            with start(target, scaling, workload, place) as running:
                problem, _ = problem_under_load(running, workload, cores, generators)
                running.stop()
        yield contract.Check(f"relays {REQUESTS:,} responses over {CONNECTIONS} connections without changing a byte", problem)


def sample_proxy(
    target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores, backend: Upstream | None
) -> SampledResponse:
    """Request one response from the backend through a built proxy, and return it. Raises :class:`HttpbenchError`."""
    assert backend is not None, "a proxy is sampled in front of a backend"
    with scratch_folder() as scratch:
        own, behind = folders_in(scratch, "target", "backend")
        with started_backend(backend, workload, behind) as server:
            place = StartContext(folder, own, host.core_groups(cores.target), backend=(server.host, server.port))
            with start(target, scaling, workload, place) as running:
                running.stop()
                return running.response
