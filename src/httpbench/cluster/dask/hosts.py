"""Functions that use Dask. The conductor calls some of them, and load hosts, which are workers of a Dask cluster, run the others."""

from __future__ import annotations

import asyncio
import logging
import ssl
import warnings
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from distributed import Client, Future, as_completed, get_worker, secede
from distributed.client import FutureCancelledError

from httpbench.cluster.dask.agent import perform
from httpbench.cluster.dask.credentials import Scheduler
from httpbench.cluster.dask.orders import AgentOutcome, Orders
from httpbench.cluster.dask.security import security
from httpbench.errors import LoadError, LostHostError, UsageError

CONNECT_S = 5.0
CANCEL_S = 3.0
RESPONSE_S = 2.0
CALL_S = 10.0
"""Time limit of a call into a worker, in seconds. The called function's own time limit is added to it."""
RUNS = ("executing", "long-running")
SCHEDULER_LOST = "the Dask scheduler was lost during the trial"
TOPIC = "httpbench"
"""Dask topic of the heartbeats."""


@dataclass(frozen=True, slots=True)
class Host:
    """A load host."""

    name: str
    address: str
    """Address of the host's Dask worker."""


Sent = Mapping[Host, Future]
"""The Dask tasks of the agents that were started, by host."""


class DaskHosts:
    """All workers of a cluster."""

    def __init__(self, client: Client, hosts: Sequence[Host]):
        self._client = client
        self.all = tuple(hosts)

    async def call(self, host: Host, function: Callable[..., Any], *args: Any, limit_s: float = 0.0) -> Any:
        """Call a function in the host's worker process, but not as a Dask task. Raise :class:`LostHostError` if the call fails."""
        try:
            async with asyncio.timeout(CALL_S + limit_s):
                found = await self._client.run(function, *args, workers=[host.address], on_error="return")
        except (OSError, TimeoutError) as error:
            raise lost(host) from error
        result = found.get(host.address)
        if isinstance(result, BaseException):
            raise _named(host, result) from result
        return result

    def send(self, host: Host, orders: Orders) -> Future:
        """Start an agent on this host only. Don't let Dask retry it, because a second attempt would generate a different load."""
        key = f"httpbench-{orders.token}-{host.name}"
        return self._client.submit(_work, orders, key=key, workers=[host.address], allow_other_workers=False, pure=False, retries=0)

    def listen(self, token: str, heard: Callable[[str], None]) -> None:
        """Call ``heard`` with the name of the load host for each heartbeat in this trial."""
        names = {host.address: host.name for host in self.all}

        def handle(event: tuple[float, Sequence[str]]) -> None:
            of_trial, address = event[1]
            if of_trial == token and address in names:
                heard(names[address])

        self._client.subscribe_topic(TOPIC, handle)

    async def outcomes(self, sent: Sent) -> AsyncIterator[tuple[Host, AgentOutcome]]:
        """Yield the outcome of each agent as it ends. Release each before the next, so that memory doesn't grow with their number."""
        hosts = {future.key: host for host, future in sent.items()}
        async for future in as_completed(list(sent.values()), loop=self._client.loop):
            host = hosts[future.key]
            yield host, await self.outcome(host, future)
            future.release()

    async def outcome(self, host: Host, future: Future) -> AgentOutcome:
        """Wait for an agent to end; return its outcome. Raise :class:`LostHostError` if the host is lost."""
        try:
            outcome = await future.result()
        except FutureCancelledError as error:  # this process never cancels an agent it waits for
            raise LostHostError(SCHEDULER_LOST) from error
        except Exception as error:  # any error that the task raised
            raise _named(host, error) from error
        assert isinstance(outcome, AgentOutcome)
        return outcome

    async def missing(self) -> tuple[Host, ...]:
        """Return the load hosts whose Dask workers are gone. Raise :class:`LostHostError` if the scheduler does not respond."""
        try:
            async with asyncio.timeout(RESPONSE_S):
                there = await self._client.nthreads(workers=[host.address for host in self.all])
        except (OSError, TimeoutError) as error:
            raise LostHostError(SCHEDULER_LOST) from error
        return tuple(host for host in self.all if host.address not in there)

    async def cancel(self, sent: Sent) -> None:
        """Cancel the agents that are still running."""
        async with asyncio.timeout(CANCEL_S):
            await self._client.cancel(list(sent.values()), force=True)


@asynccontextmanager
async def connected(scheduler: Scheduler) -> AsyncIterator[DaskHosts]:
    """Connect to a scheduler; yield its load hosts.

    Raise :class:`LoadError` if it does not respond, refuses the credentials or has no worker. Raise :class:`UsageError` if it requires
    credentials and there are none.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    # Dask warns if hosts have different versions. We check our own versions, and incompatible versions of Dask fail anyway.
    warnings.simplefilter("ignore")
    address, own = scheduler.address, security(scheduler.credentials)
    if address.startswith("tls://") and own.tls_ca_file is None:
        raise UsageError(f"{address} requires certificates", hint="pass --dask-ca, --dask-cert and --dask-key")
    try:
        client = await Client(address, asynchronous=True, timeout=CONNECT_S, name="httpbench", security=own)
    except (OSError, ValueError) as error:
        if _is_refused(error):
            hint = "check that --dask-ca, --dask-cert and --dask-key belong to this cluster"
            raise LoadError(
                f"the Dask scheduler at {address} and this machine do not accept each other's certificates", hint=hint
            ) from error
        raise LoadError(f"no Dask scheduler responds at {address}", hint="start one: dask scheduler") from error
    async with client:
        identity = await client.scheduler.identity(n_workers=-1)
        hosts = named(identity["workers"])
        if not hosts:
            raise LoadError(f"the Dask scheduler at {address} has no workers", hint=f"on each load host: dask worker {address}")
        yield DaskHosts(client, hosts)


def _is_refused(error: BaseException | None) -> bool:
    """Return whether TLS caused an error, directly or indirectly."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__
    return error is not None


def named(workers: Mapping[str, Mapping[str, Any]]) -> list[Host]:
    """Give each worker the name that the user chose, else the name of its host, or its address if the host has several workers."""
    of_host = [str(worker.get("host", "")) for worker in workers.values()]
    hosts = []
    for address, worker in workers.items():
        name, host = str(worker.get("name", "")), str(worker.get("host", ""))
        is_given = name and "://" not in name and not name.isdigit()
        own = host if host and of_host.count(host) == 1 else address.partition("://")[2]
        hosts.append(Host(name if is_given else own, address))
    return sorted(hosts, key=lambda each: each.name)


def lost(host: Host) -> LostHostError:
    """Return the error for a worker that does not respond."""
    return LostHostError(f"lost load host {host.name}: its Dask worker at {host.address} does not respond")


def _named(host: Host, error: BaseException) -> LostHostError:
    """Convert an error on a load host to one that names the host."""
    if isinstance(error, ModuleNotFoundError):
        return LostHostError(f"load host {host.name} lacks {error.name}", hint="on the load host: pip install 'httpbench[cluster]'")
    if isinstance(error, LoadError):
        return LostHostError(f"load host {host.name}: {error.message}", hint=error.hint, log_tail=error.log_tail)
    if isinstance(error, OSError):
        return lost(host)
    return LostHostError(f"load host {host.name} failed: {type(error).__name__}: {error}")


def _work(orders: Orders) -> AgentOutcome:
    """Run an agent, as the task of a worker."""
    worker = get_worker()
    key = worker.get_current_task()
    if orders.in_slices:  # the agents of several targets run at the same time, and a worker may have only one thread for tasks
        secede()

    def is_cancelled() -> bool:
        """Return whether Dask has forgotten the task. Dask never stops a running task, but forgets the task when the conductor is gone."""
        task = worker.state.tasks.get(key)
        return task is None or task.state not in RUNS

    def beat() -> None:
        worker.log_event(TOPIC, [orders.token, worker.address])

    return perform(orders, is_cancelled, beat)
