"""Check that a client meets its contract.

The cases are no requests, some requests, large bodies, a server that closes connections, and a wrong status.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from httpbench import contract, load
from httpbench.errors import HttpbenchError
from httpbench.host.scratch import scratch_folder
from httpbench.model import ClientWork, Cores, Limit, Reason, ReasonKind, SampledRequest, Scaling, Target, WorkDone, Workload
from httpbench.run.client.reference import reference
from httpbench.run.client.run_once import Client, ClientRun, run_client
from httpbench.run.client.trial import HELD_REQUESTS, HELD_S
from httpbench.run.trial.verified import Verified, verified
from httpbench.stats.equal_work import Told, unequal

Problem = str | tuple[Reason, ...] | None

LIMIT_S = 60.0
FEW = ClientWork(requests=HELD_REQUESTS, body_bytes=12)
LARGE = ClientWork(requests=HELD_REQUESTS, body_bytes=1_000_000)
RECONNECTING = ClientWork(requests=HELD_REQUESTS, body_bytes=12, reconnect=True)


def verify_client(target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores) -> Verified:
    """Check the contract of a built client with reference servers. The checks use only the path of the workload."""
    client = Client(target, folder, cores, load.timer("native"), LIMIT_S)
    keeps_none = Limit.NO_KEEPALIVE in target.limits
    clauses = _clauses(client, workload.request.path, keeps_none)
    return verified(
        target,
        scaling,
        (
            contract.Check(name, problem, limit, limit is not None and keeps_none, () if limit is None else (limit,))
            for name, problem, limit in clauses
        ),
    )


def sample_client(target: Target, scaling: Scaling, workload: Workload, folder: Path, cores: Cores) -> SampledRequest:
    """Return the first request from a built client, as the server received it. Raises :class:`HttpbenchError`."""
    client = Client(target, folder, cores, load.timer("native"), LIMIT_S)
    ran, done = _run(client, workload.request.path, ClientWork(requests=1))
    if ran.timed.code != 0:
        raise HttpbenchError(f"{target.id} crashed ({ran.timed})", log_tail=ran.log_tail)
    return SampledRequest(text=done.first_request)


def _clauses(client: Client, path: str, keeps_none: bool) -> Iterator[tuple[str, Problem, Limit | None]]:
    """Check the clauses one by one. Yield the name of each clause, its problem if any, and the limit that excuses this problem."""
    yield 'with 0 requests it prints "0 0" and opens no connection', _idle(client, path), None
    yield f"sends {FEW.requests} requests, one after the other", _works(client, path, FEW, keeps_none), None
    yield "sends all requests over one connection", _keeps(client, path), Limit.NO_KEEPALIVE
    yield "reads 1 MB bodies completely", _works(client, path, LARGE, keeps_none), None
    yield "reconnects when the server closes the connection", _works(client, path, RECONNECTING, True), None
    yield "ends with an error if the status is 404", _notices(client, path), None


def _run(
    client: Client, path: str, work: ClientWork, *, requests: int | None = None, other: str | None = None, held_s: float = 0
) -> tuple[ClientRun, WorkDone]:
    """Run the client once. If ``other`` is set, the client requests this path, which the server doesn't have."""
    with scratch_folder() as scratch, reference(work, path, client.cores, scratch, held_s=held_s) as server:
        url = server.url if other is None else server.url.removesuffix(path) + other
        ran = run_client(client, url, work.requests if requests is None else requests, scratch)
        return ran, server.stop()


def _idle(client: Client, path: str) -> Problem:
    ran, done = _run(client, path, FEW, requests=0)
    if done.connections:
        return _crashed(ran) or f"opened {done.connections} connections"
    return _crashed(ran) or (None if ran.printed.strip() == "0 0" else f'printed "{_first_line(ran.printed)}"')


def _works(client: Client, path: str, work: ClientWork, reconnects: bool) -> Problem:
    ran, done = _run(client, path, work, held_s=HELD_S)
    found = unequal(Told(work.requests, work.body_bytes, reconnects), done, ran.printed)
    if not work.reconnect:
        found.pop(ReasonKind.CLIENT_CONNECTIONS, None)  # another clause checks the number of connections
    return _crashed(ran) or tuple(found.values()) or None


def _keeps(client: Client, path: str) -> Problem:
    ran, done = _run(client, path, FEW)
    if (crash := _crashed(ran)) or done.connections == 1:
        return crash
    problem = f"opened {done.connections} connections for {done.requests} requests"
    if done.connections == done.requests and Limit.NO_KEEPALIVE not in client.target.limits:
        problem += f'; if the library cannot keep connections open, declare limits = ["{Limit.NO_KEEPALIVE}"]'
    return problem


def _notices(client: Client, path: str) -> Problem:
    ran, _ = _run(client, path, FEW, other=f"{path.rstrip('/')}/not-there")
    return None if ran.timed.code != 0 else f'ended with exit code 0 and printed "{_first_line(ran.printed)}"'


def _first_line(printed: str) -> str:
    """Return the first line of a client's output, and the number of its lines if there are more."""
    lines = printed.strip().splitlines()
    return "" if not lines else lines[0] if len(lines) == 1 else f"{lines[0]} … ({len(lines)} lines)"


def _crashed(ran: ClientRun) -> str | None:
    """Return how a client crashed, or ``None`` if it didn't."""
    if ran.timed.code == 0:
        return None
    last = (ran.log_tail or "").splitlines()[-1:]
    return f"crashed ({ran.timed})" + (f": {last[0]}" if last else "")
