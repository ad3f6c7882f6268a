"""Load hosts as workers of a Dask cluster: what the conductor, and each load host, does with Dask."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from distributed import Client, Future, as_completed, get_worker
from distributed.client import FutureCancelledError

from httpbench.cluster.dask.agent import perform
from httpbench.cluster.dask.orders import Orders, Outcome
from httpbench.errors import LoadError, LostHostError

CONNECT_S = 5.0
CANCEL_S = 3.0
RESPONSE_S = 2.0
CALL_S = 10.0
"""For a call into a worker beyond the time that the function takes."""
RUNS = ("executing", "long-running")
SCHEDULER_LOST = "the Dask scheduler was lost during the trial"
TOPIC = "httpbench"
"""Of the events with which agents say that they are there."""


@dataclass(frozen=True, slots=True)
class Host:
    """A load host."""

    name: str
    address: str
    """Of its worker."""


Sent = Mapping[Host, Future]
"""The agents that were started, by host."""


class DaskHosts:
    """All workers of a cluster."""

    def __init__(self, client: Client, hosts: Sequence[Host]):
        self._client = client
        self.all = tuple(hosts)

    async def call(self, host: Host, function: Callable[..., Any], *args: Any, limit_s: float = 0.0) -> Any:
        """Calls a function in the worker's process, outside its tasks. Raises :class:`LostHostError` that names the host."""
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
        """Starts an agent on this host and on no other. It is tried once: a load that is made again is another load."""
        key = f"httpbench-{orders.token}-{host.name}"
        return self._client.submit(_work, orders, key=key, workers=[host.address], allow_other_workers=False, pure=False, retries=0)

    def listen(self, token: str, heard: Callable[[str], None]) -> None:
        """Calls ``heard`` with the name of a load host whenever its agent of this trial says that it is there."""
        names = {host.address: host.name for host in self.all}

        def handle(event: tuple[float, Sequence[str]]) -> None:
            of_trial, address = event[1]
            if of_trial == token and address in names:
                heard(names[address])

        self._client.subscribe_topic(TOPIC, handle)

    async def outcomes(self, sent: Sent) -> AsyncIterator[tuple[Host, Outcome]]:
        """Of each agent as it ends. One is fetched at a time, so memory does not grow with their number."""
        hosts = {future.key: host for host, future in sent.items()}
        async for future in as_completed(list(sent.values()), loop=self._client.loop):
            host = hosts[future.key]
            yield host, await self.outcome(host, future)
            future.release()

    async def outcome(self, host: Host, future: Future) -> Outcome:
        """Of one agent; waits for its end. Raises :class:`LostHostError` that names the host."""
        try:
            outcome = await future.result()
        except FutureCancelledError as error:  # this process cancels none that it waits for
            raise LostHostError(SCHEDULER_LOST) from error
        except Exception as error:  # whatever the task raised
            raise _named(host, error) from error
        assert isinstance(outcome, Outcome)
        return outcome

    async def missing(self) -> tuple[Host, ...]:
        """The load hosts whose worker is gone. Raises :class:`LostHostError` if the scheduler does not respond."""
        try:
            async with asyncio.timeout(RESPONSE_S):
                there = await self._client.nthreads(workers=[host.address for host in self.all])
        except (OSError, TimeoutError) as error:
            raise LostHostError(SCHEDULER_LOST) from error
        return tuple(host for host in self.all if host.address not in there)

    async def cancel(self, sent: Sent) -> None:
        """Ends the agents that still run."""
        async with asyncio.timeout(CANCEL_S):
            await self._client.cancel(list(sent.values()), force=True)


@asynccontextmanager
async def connected(scheduler: str) -> AsyncIterator[DaskHosts]:
    """The load hosts of a scheduler. Raises :class:`LoadError` if it does not respond or has no worker."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")  # of versions that differ: ours are checked, and Dask's are compatible or fail
    try:
        client = await Client(scheduler, asynchronous=True, timeout=CONNECT_S, name="httpbench")
    except (OSError, ValueError) as error:
        raise LoadError(f"no Dask scheduler responds at {scheduler}", hint="start one: dask scheduler") from error
    async with client:
        identity = await client.scheduler.identity(n_workers=-1)
        hosts = named(identity["workers"])
        if not hosts:
            raise LoadError(f"the Dask scheduler at {scheduler} has no workers", hint=f"on each load host: dask worker {scheduler}")
        yield DaskHosts(client, hosts)


def named(workers: Mapping[str, Mapping[str, Any]]) -> list[Host]:
    """Workers by the names that users gave them; otherwise by host; or by address where a host has several."""
    of_host = [str(worker.get("host", "")) for worker in workers.values()]
    hosts = []
    for address, worker in workers.items():
        name, host = str(worker.get("name", "")), str(worker.get("host", ""))
        is_given = name and "://" not in name and not name.isdigit()
        own = host if host and of_host.count(host) == 1 else address.partition("://")[2]
        hosts.append(Host(name if is_given else own, address))
    return sorted(hosts, key=lambda each: each.name)


def lost(host: Host) -> LostHostError:
    """Of a worker that does not respond, or is gone."""
    return LostHostError(f"lost load host {host.name}: its Dask worker at {host.address} does not respond")


def _named(host: Host, error: BaseException) -> LostHostError:
    """An error from a load host, with its name."""
    if isinstance(error, ModuleNotFoundError):
        return LostHostError(f"load host {host.name} lacks {error.name}", hint="on the load host: pip install 'httpbench[cluster]'")
    if isinstance(error, LoadError):
        return LostHostError(f"load host {host.name}: {error.message}", hint=error.hint, log_tail=error.log_tail)
    if isinstance(error, OSError):
        return lost(host)
    return LostHostError(f"load host {host.name} failed: {type(error).__name__}: {error}")


def _work(orders: Orders) -> Outcome:
    """The task of a worker."""
    worker = get_worker()
    key = worker.get_current_task()

    def is_cancelled() -> bool:
        """Dask does not stop a task that runs: its worker only forgets it when the conductor is gone."""
        task = worker.state.tasks.get(key)
        return task is None or task.state not in RUNS

    def beat() -> None:
        worker.log_event(TOPIC, [orders.token, worker.address])

    return perform(orders, is_cancelled, beat)
