"""Check the contract of a proxy: first between two test ends, then in front of its backend under load, comparing bodies by hash."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from httpbench import contract, host
from httpbench.errors import HttpbenchError
from httpbench.model import Cores, SampledResponse, Scaling, Target, Workload
from httpbench.run.load.contract_load import CONNECTIONS, REQUESTS, problem_under_load
from httpbench.run.proxy.trial import started_backend
from httpbench.run.trial.inputs import Upstream
from httpbench.run.trial.start import HOST, STOP_GRACE_S, StartContext, start
from httpbench.run.trial.verified import Verified


def verify_proxy(target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores, backend: Upstream | None) -> Verified:
    """Start a built proxy, check its contract, and stop it."""
    assert backend is not None, "a proxy is verified in front of a backend"
    checks: Sequence[contract.Check] = ()
    try:
        with tempfile.TemporaryDirectory(prefix="httpbench-") as scratch:
            first, second, behind, generators = (_folder(scratch, name) for name in ("first", "second", "backend", "generator"))
            groups = host.core_groups(cores.target)
            with contract.ScriptedBackend() as scripted:
                place = StartContext(folder, first, groups, backend=(HOST, scripted.port))
                with start(target, scaling, contract.HELLO_WORKLOAD, place) as running:
                    checks = contract.check_proxy(HOST, running.port, scripted, target.limits)
                    death = running.death()
                    checks = [*checks, contract.Check("stays alive", f"it ended by itself ({death})" if death else None)]
                    stopped = running.stop()
            checks = [
                *checks,
                contract.Check(
                    f"ends within {STOP_GRACE_S:g} s of SIGTERM, children included", (stopped.problem,) if stopped.problem else None
                ),
            ]
            with started_backend(backend, workload, behind) as server:
                place = StartContext(folder, second, groups, backend=(server.host, server.port))
                with start(target, scaling, workload, place) as running:
                    problem, _ = problem_under_load(running, workload, cores, generators)
                    running.stop()
            checks = [
                *checks,
                contract.Check(f"relays {REQUESTS:,} responses over {CONNECTIONS} connections without changing a byte", problem),
            ]
    except HttpbenchError as error:
        return Verified(target, scaling, tuple(checks), error)
    return Verified(target, scaling, tuple(checks))


def sample_proxy(
    target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores, backend: Upstream | None
) -> SampledResponse:
    """Return one response of the backend through a built proxy. Raises :class:`HttpbenchError`."""
    assert backend is not None, "a proxy is sampled in front of a backend"
    with tempfile.TemporaryDirectory(prefix="httpbench-") as scratch:
        own, behind = (_folder(scratch, name) for name in ("target", "backend"))
        with started_backend(backend, workload, behind) as server:
            place = StartContext(folder, own, host.core_groups(cores.target), backend=(server.host, server.port))
            with start(target, scaling, workload, place) as running:
                running.stop()
                return running.response


def _folder(scratch: str, name: str) -> Path:
    folder = Path(scratch, name)
    folder.mkdir()
    return folder
