"""Check the contract of a client: no request, some requests, large bodies, a server that closes connections, a wrong status."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from httpbench import contract, load
from httpbench.errors import HttpbenchError
from httpbench.model import ClientWork, Cores, Limit, Reason, ReasonKind, SampledRequest, Scaling, Target, WorkDone, Workload
from httpbench.run.client.reference import reference
from httpbench.run.client.run_once import Client, ClientRun, run_client
from httpbench.run.client.trial import HELD_REQUESTS, HELD_S
from httpbench.run.trial.verified import Verified
from httpbench.stats.equal_work import Told, unequal

Problem = str | tuple[Reason, ...] | None

LIMIT_S = 60.0
FEW = ClientWork(requests=HELD_REQUESTS, body_bytes=12)
LARGE = ClientWork(requests=HELD_REQUESTS, body_bytes=1_000_000)
RECONNECTING = ClientWork(requests=HELD_REQUESTS, body_bytes=12, reconnect=True)


def verify_client(target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores) -> Verified:
    """Run a built client against reference servers. From the workload, only the path is used."""
    client = Client(target, folder, cores, load.timer("native"), LIMIT_S)
    checks: list[contract.Check] = []
    keeps_none = Limit.NO_KEEPALIVE in target.limits
    clauses: tuple[tuple[str, Callable[[Path], Problem], Limit | None], ...] = (
        ('with 0 requests it prints "0 0" and opens no connection', lambda scratch: _idle(client, workload, scratch), None),
        (f"sends {FEW.requests} requests, one after the other", lambda scratch: _works(client, workload, FEW, scratch, keeps_none), None),
        ("sends all requests over one connection", lambda scratch: _keeps(client, workload, scratch), Limit.NO_KEEPALIVE),
        ("reads bodies of 1 MB whole", lambda scratch: _works(client, workload, LARGE, scratch, keeps_none), None),
        ("reconnects when the server closes the connection", lambda scratch: _works(client, workload, RECONNECTING, scratch, True), None),
        ("ends with an error if the status is 404", lambda scratch: _notices(client, workload, scratch), None),
    )
    try:
        for name, clause, limit in clauses:
            with tempfile.TemporaryDirectory(prefix="httpbench-") as scratch:
                checks.append(contract.Check(name, clause(Path(scratch)), limit, limit is not None and keeps_none))
    except HttpbenchError as error:
        return Verified(target, scaling, tuple(checks), error)
    return Verified(target, scaling, tuple(checks))


def sample_client(target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores) -> SampledRequest:
    """Return the first request of a built client, as the server received it. Raises :class:`HttpbenchError`."""
    client = Client(target, folder, cores, load.timer("native"), LIMIT_S)
    with tempfile.TemporaryDirectory(prefix="httpbench-") as scratch:
        ran, done = _run(client, workload.request.path, ClientWork(requests=1), Path(scratch))
    if ran.timed.code != 0:
        raise HttpbenchError(f"{target.id} crashed ({ran.timed})", log_tail=ran.log_tail)
    return SampledRequest(text=done.first_request)


def _run(
    client: Client, path: str, work: ClientWork, scratch: Path, *, requests: int | None = None, other: str | None = None, held_s: float = 0
) -> tuple[ClientRun, WorkDone]:
    """Run the client once. ``other``: a path that the server doesn't have, for the client to request."""
    with reference(work, path, client.cores, scratch, held_s=held_s) as server:
        url = server.url if other is None else server.url.removesuffix(path) + other
        ran = run_client(client, url, work.requests if requests is None else requests, scratch)
        return ran, server.stop()


def _idle(client: Client, workload: Workload, scratch: Path) -> str | None:
    ran, done = _run(client, workload.request.path, FEW, scratch, requests=0)
    if ran.timed.code != 0:
        return _crashed(ran)
    if done.connections:
        return f"opened {done.connections} connections"
    return None if ran.printed.strip() == "0 0" else f'printed "{ran.printed.strip()}"'


def _works(client: Client, workload: Workload, work: ClientWork, scratch: Path, reconnects: bool) -> Problem:
    ran, done = _run(client, workload.request.path, work, scratch, held_s=HELD_S)
    if ran.timed.code != 0:
        return _crashed(ran)
    found = unequal(Told(work.requests, work.body_bytes, reconnects), done, ran.printed)
    if not work.reconnect:
        found.pop(ReasonKind.CLIENT_CONNECTIONS, None)  # another clause checks this
    return tuple(found.values()) or None


def _keeps(client: Client, workload: Workload, scratch: Path) -> str | None:
    ran, done = _run(client, workload.request.path, FEW, scratch)
    if ran.timed.code != 0:
        return _crashed(ran)
    return None if done.connections == 1 else f"opened {done.connections} connections for {done.requests} requests"


def _notices(client: Client, workload: Workload, scratch: Path) -> str | None:
    ran, _ = _run(client, workload.request.path, FEW, scratch, other=f"{workload.request.path.rstrip('/')}/not-there")
    return None if ran.timed.code != 0 else f'ended with exit code 0 and printed "{ran.printed.strip()}"'


def _crashed(ran: ClientRun) -> str:
    last = (ran.log_tail or "").splitlines()[-1:]
    return f"crashed ({ran.timed})" + (f": {last[0]}" if last else "")
