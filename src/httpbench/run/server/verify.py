"""Check the contract of a server: start it, check each clause, and stop it. This module also samples a response and runs probes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from httpbench import contract, host, http
from httpbench.databases import counting_problem, requires_rows
from httpbench.errors import HttpbenchError
from httpbench.host.scratch import scratch_folder
from httpbench.model import Conformance, Cores, Label, Probed, SampledResponse, Scaling, Target, Workload
from httpbench.run.database.running import RunningDatabase, started
from httpbench.run.load.conformance import conformance, h2spec
from httpbench.run.load.contract_load import CONNECTIONS, problem_under_load, requests_under_load
from httpbench.run.trial.context import StartContext
from httpbench.run.trial.frame import folders_in
from httpbench.run.trial.inputs import Upstream
from httpbench.run.trial.start import start
from httpbench.run.trial.steps import probed
from httpbench.run.trial.verified import Verified, ends_in_time, stays_alive

PROBE_LIMIT_S = 6.0
"""Time limit for the probe, in seconds. It allows for a new Date header and slow responses, because no measurement is waiting."""


def verify(
    target: Target,
    scaling: Scaling,
    workload: Workload,
    folder: Path,
    cores: Cores,
    database: Upstream | None = None,
    transport: http.Transport = http.PLAIN,
) -> Verified:
    """Start a built server with its database, check its contract, and stop it."""
    workload = workload.of(target)
    checks: list[contract.Check] = []
    seen: Probed | None = None
    try:
        with _room(target, folder, cores, database, transport) as (place, generators, beside):
            with start(target, scaling, workload, place) as running:
                begin = time.monotonic()
                clauses = contract.clauses_for(target, workload, http2=transport.http2)
                checks += contract.check_server(running.server(workload), target.limits, clauses)
                if not transport.http2:  # the probe writes bytes of HTTP/1.1
                    seen = probed(running, workload, begin, PROBE_LIMIT_S)
                    canned = "; ".join(seen.reasons) if seen.label is Label.CANNED else None
                    checks.append(contract.Check("responds to what was requested", canned))
                if beside:
                    beside.mark(workload)
                problem, correct = problem_under_load(running, workload, cores, generators)
                requests = requests_under_load(workload)
                checks.append(contract.Check(f"responds correctly to {requests:,} requests over {CONNECTIONS} connections", problem))
                checks.append(stays_alive(running))
                stopped = running.stop()
            if beside and requires_rows(workload) and not problem:
                skipped = counting_problem(workload, correct, beside.record())
                checks.append(contract.Check("asks its database for each response", (skipped,) if skipped else None))
        if target.entry is None:  # other projects have no rule on how a program ends
            checks.append(ends_in_time(stopped))
    except HttpbenchError as error:
        return Verified(target, scaling, tuple(checks), error, seen, workload.name)
    return Verified(target, scaling, tuple(checks), None, seen, workload.name)


def conformance_of(
    target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores, database: Upstream | None, transport: http.Transport
) -> Conformance | None:
    """Run h2spec on a built server, and return its result, or ``None`` if it isn't installed. Raises :class:`HttpbenchError`."""
    program, workload = h2spec(), workload.of(target)
    if program is None:
        return None
    with (
        _room(target, folder, cores, database, transport) as (place, generators, _),
        start(target, scaling, workload, place) as running,
    ):
        return conformance(program, running, workload, generators)


def probe_target(
    target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores, transport: http.Transport = http.PLAIN
) -> Probed:
    """Probe a built server. Raises :class:`HttpbenchError`."""
    workload = workload.of(target)
    with _room(target, folder, cores, None, transport) as (place, _, _), start(target, scaling, workload, place) as running:
        return probed(running, workload, time.monotonic(), PROBE_LIMIT_S)


def sample(
    target: Target,
    scaling: Scaling,
    workload: Workload,
    folder: Path,
    cores: Cores,
    database: Upstream | None = None,
    transport: http.Transport = http.PLAIN,
) -> SampledResponse:
    """Return one response from a built server. Raises :class:`HttpbenchError`."""
    workload = workload.of(target)
    with _room(target, folder, cores, database, transport) as (place, _, _), start(target, scaling, workload, place) as running:
        running.stop()
        return running.response


@contextmanager
def _room(
    target: Target, folder: Path, cores: Cores, database: Upstream | None, transport: http.Transport
) -> Iterator[tuple[StartContext, Path, RunningDatabase | None]]:
    """Yield the server's start context, an empty folder for load generators, and the server's database, which runs until the block ends."""
    with scratch_folder() as scratch, contextlib.ExitStack() as stack:
        own, generators, behind = folders_in(scratch, "target", "generator", "database")
        beside = None
        if database is not None:
            beside = stack.enter_context(started(database, behind, port_is_fixed=target.entry is not None))
        reachable = beside.reachable if beside else None
        yield StartContext(folder, own, host.core_groups(cores.target), database=reachable, transport=transport), generators, beside
