"""The conductor of one trial with many load hosts: a separate process that replaces the load generator.

First, all load hosts connect. Then the conductor sends a common start time to each of them, converted to the host's own clock, so that all
begin the warm-up and the measured window together. In slices, it reads orders from standard input and passes each on with a start time of
its own. Each agent sends a heartbeat twice a second. If one load host is lost, there is no result, because the remaining hosts generated a
different load.

The conductor writes phases to standard error as JSON lines, and an error as ``error: …`` and ``hint: …``. It writes the merged result to
standard output. Its exit code shows whether a load host was lost, late or incompatible.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from httpbench.cluster.dask import agent
from httpbench.cluster.dask.credentials import Credentials, Scheduler
from httpbench.cluster.dask.generator import EXIT_LOST
from httpbench.cluster.dask.hosts import SCHEDULER_LOST, DaskHosts, Host, Sent, connected
from httpbench.cluster.dask.merge import MergedResults
from httpbench.cluster.dask.orders import BEAT_S, AgentOutcome, Division, Orders, Readiness, divided, packed
from httpbench.cluster.dask.results import Document
from httpbench.cluster.dask.survey import NS_PER_MS, Offset, check_clocks, check_versions, read_clocks, read_facts
from httpbench.errors import HttpbenchError, LoadError, LostHostError
from httpbench.load import Job, Phase, SliceReport, get
from httpbench.model import HostShare, Load, Trust, Workload

READY_S = 10.0
"""Time limit for an agent to start and connect, in seconds. The request timeout is added to this limit."""
RESULT_S = 10.0
"""Time limit from the end of the window to the last result, in seconds. The request timeout and the time per host are added to it."""
LEAD_S, LEAD_PER_HOST_S = 0.5, 0.005
"""Time from when the conductor chooses the start time until the start, and extra time for each load host, in seconds.

Within this time, the start time must reach every load host.
"""
SLICE_LEAD_S = 0.01
"""Minimum time between an order and the start of its slice, in seconds. The time to reach the load host that is farthest away is added."""
CLOCKS_S = 20.0
"""Time after which the clocks of load hosts are read again between two slices, in seconds. Quartz clocks drift apart by up to 0.1 ms/s."""
SLICES_LIMIT_S = 86_400.0
"""Time limit of an agent in slices, in seconds. Its load generator also ends with the conductor."""
AGENT_SLACK_S = 60.0
"""Extra time in the time limit of an agent, in seconds, because other hosts may take a long time to get ready."""
LOOK_S, LOOKS_MAX = BEAT_S, 4
SILENT_S = LOOK_S * LOOKS_MAX
"""Time after which a silent load host counts as lost, in seconds. A link that is cut for 3 s is always noticed."""
EXIT_FAILED, EXIT_TERMINATED = 1, 143


@dataclass(frozen=True, slots=True)
class ConductedTrial:
    """A trial, as described by the file of orders that the conductor reads."""

    scheduler: Scheduler
    hosts: int
    job: Job

    @classmethod
    def read(cls, path: Path) -> ConductedTrial:
        orders = json.loads(path.read_bytes())
        os.environ.update(orders["environment"])
        workload, load = Workload.model_validate(orders["workload"]), Load.model_validate(orders["load"])
        trust = Trust.model_validate(orders["trust"])
        scratch, interval_s, in_slices = Path(orders["scratch"]), orders["interval_s"], orders["in_slices"]
        job = Job(orders["url"], workload, load, (), scratch, interval_s, in_slices=in_slices, trust=trust)
        address, own = orders["workers"]["scheduler"].values()
        return cls(Scheduler(address, own and Credentials(**own)), orders["workers"]["hosts"], job)


def main() -> None:
    """Read a trial from the file that the first argument names, conduct it, and print its result or its error."""
    trial = ConductedTrial.read(Path(sys.argv[1]))
    try:
        result = asyncio.run(_until_signal(trial))
    except asyncio.CancelledError:
        sys.exit(EXIT_TERMINATED)
    except HttpbenchError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        if error.log_tail:
            print(error.log_tail, file=sys.stderr)
        sys.exit(EXIT_LOST if isinstance(error, LostHostError) else EXIT_FAILED)
    json.dump(result, sys.stdout)


async def _until_signal(trial: ConductedTrial) -> dict[str, Any]:
    """Conduct the trial. SIGTERM ends it and every agent."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await conduct(trial)


async def conduct(trial: ConductedTrial) -> dict[str, Any]:
    """Return the merged result of all load hosts.

    Raise :class:`LostHostError`, which names the load host, if a load host is lost, late or incompatible. Raise :class:`LoadError` if the
    load fails for another reason.
    """
    _say(Phase.CONNECT)
    async with connected(trial.scheduler) as cluster:
        if len(cluster.all) != trial.hosts:
            there = ", ".join(host.name for host in cluster.all)
            raise LostHostError(f"the run began with {trial.hosts} load hosts, but now there are {len(cluster.all)}: {there}")
        facts = await read_facts(cluster)
        check_versions(facts)
        divisions = divided(trial.job.load.connections, trial.job.load.threads, [each.cpus for each in facts.values()])
        offsets = await read_clocks(cluster)
        token, silence = secrets.token_hex(8), Silence(host.name for host in cluster.all)
        cluster.listen(token, silence.heard)
        sent = {
            host: cluster.send(host, orders_for(trial.job, division, token)) for host, division in zip(cluster.all, divisions, strict=True)
        }
        try:
            await _all_ready(cluster, sent, token, trial.job.load)
            slices = Slices(cluster, offsets, token, trial.job.load) if trial.job.in_slices else None
            conducted = slices.conduct() if slices else _window(await _begin(cluster, offsets, token), trial.job.load)
            merged, shares, starts = await _results(cluster, sent, offsets, trial.job.load, conducted, silence)
        finally:
            with contextlib.suppress(OSError, TimeoutError):  # if the scheduler can't be reached, its workers end the agents
                await cluster.cancel(sent)
        later = await read_clocks(cluster)
    check_clocks(slices.offsets if slices else offsets, later)
    late_ms = slices.late_ms if slices else lateness_ms({host: later[host].here(start) for host, start in starts.items()})
    return {**merged.document(), "load_hosts": [share.model_dump() for share in with_starts(shares, late_ms)]}


class Silence:
    """Counts, for each load host, how often the conductor has checked for a heartbeat since the last one arrived.

    It counts checks rather than time. A conductor that gets no CPU time receives no heartbeats, but it doesn't check for them either, so it
    doesn't mistake its own delay for a lost host.
    """

    def __init__(self, hosts: Iterable[str]):
        self._looks = dict.fromkeys(hosts, 0)

    def heard(self, host: str) -> None:
        if host in self._looks:
            self._looks[host] = 0

    def look(self, watched: Collection[str]) -> list[str]:
        """Count one check, and return the names of the watched load hosts that were silent for too long. Call this every ``LOOK_S``."""
        for host in self._looks:
            self._looks[host] += 1
        return sorted(host for host in watched if self._looks[host] > LOOKS_MAX)


def orders_for(job: Job, division: Division, token: str) -> Orders:
    """Return the orders for the agent that generates this part of the load."""
    own = job.load.model_copy(update={"connections": division.connections, "threads": division.threads})
    options, files = packed(get("native").argv(replace(job, load=own), warmup=False)[1:], job.scratch)
    limit_s = SLICES_LIMIT_S if job.in_slices else own.warmup_s + own.duration_s + own.timeout_s + AGENT_SLACK_S
    return Orders(token, ("--part", division.part, *options), files, limit_s, job.in_slices)


async def _all_ready(cluster: DaskHosts, sent: Sent, token: str, load: Load) -> None:
    limit_s = READY_S + load.timeout_s

    async def one(host: Host) -> None:
        found = await cluster.call(host, agent.wait_until_ready, token, limit_s, limit_s=limit_s)
        if found is Readiness.ENDED:
            _require_success(host, await cluster.outcome(host, sent[host]))
        if found is not Readiness.READY:
            raise LostHostError(
                f"load host {host.name} was not ready within {limit_s:.0f} s", hint="its worker may be busy with other tasks"
            )

    await asyncio.gather(*map(one, cluster.all))


async def _begin(cluster: DaskHosts, offsets: Mapping[Host, Offset], token: str) -> int:
    """Send the start time to all load hosts; return it on this machine's clock."""
    start_ns = time.monotonic_ns() + round((LEAD_S + LEAD_PER_HOST_S * len(cluster.all)) * 1e9)
    await asyncio.gather(*(cluster.call(host, agent.start, token, offsets[host].there(start_ns)) for host in cluster.all))
    return start_ns


async def _window(start_ns: int, load: Load) -> None:
    """Wait until the end of the measured window, and report each phase at its scheduled time: load hosts report nothing in between."""
    begin_s = start_ns / 1e9
    phases = [(begin_s, Phase.WARMUP)] if load.warmup_s else []
    phases += [(begin_s + load.warmup_s, Phase.MEASURE), (begin_s + load.warmup_s + load.duration_s, Phase.DONE)]
    for at_s, phase in phases:
        await asyncio.sleep(max(at_s - time.monotonic(), 0))
        _say(phase)


class Slices:
    """The slices of a trial. Orders come from standard input, and reports go to standard error."""

    def __init__(self, cluster: DaskHosts, offsets: Mapping[Host, Offset], token: str, load: Load):
        self._cluster, self.offsets, self._token, self._load = cluster, offsets, token, load
        self._read_at_s = time.monotonic()
        self._lead_ns = SLICE_LEAD_S * 1e9 + 2 * max(offset.round_trip_ns for offset in offsets.values())
        self.late_ms = dict.fromkeys(cluster.all, 0.0)
        """How much later than the first host each load host started a slice, at most, in ms."""

    async def conduct(self) -> None:
        """Pass orders on to all load hosts until ``end``. Report each slice as soon as all of them have reported it."""
        _say_line({"event": "ready"})
        orders, hosts = await _standard_input(), self._cluster.all
        while line := (await orders.readline()).decode().strip():
            if line in ("drop", "end"):
                await asyncio.gather(*(self._cluster.call(host, agent.order, self._token, line) for host in hosts))
                if line == "end":
                    return
                continue
            await self._keep_clocks()
            start_ns = time.monotonic_ns() + round(self._lead_ns)
            reports = await asyncio.gather(*(self._loaded(host, line, start_ns) for host in hosts))
            self._note_starts(dict(zip(hosts, reports, strict=True)))
            _say_line({"event": "slice", **asdict(SliceReport.merged(reports))})

    async def _keep_clocks(self) -> None:
        """Read the clocks again if the last reading is old, because clocks drift apart during a long round."""
        if time.monotonic() - self._read_at_s < CLOCKS_S:
            return
        later = await read_clocks(self._cluster)
        check_clocks(self.offsets, later)
        self.offsets, self._read_at_s = later, time.monotonic()

    async def _loaded(self, host: Host, line: str, start_ns: int) -> SliceReport:
        limit_s = sum(map(float, line.split()[1:])) / 1e3 + self._load.timeout_s + RESULT_S
        order = f"{line} at {self.offsets[host].there(start_ns)}"
        report = await self._cluster.call(host, agent.load, self._token, order, limit_s, limit_s=limit_s)
        if report is None:
            raise LostHostError(f"load host {host.name} did not report a slice within {limit_s:.0f} s")
        assert isinstance(report, SliceReport)
        return report

    def _note_starts(self, reports: Mapping[Host, SliceReport]) -> None:
        starts = {host: self.offsets[host].here(report.start_ns or 0) for host, report in reports.items()}
        first_ns = min(starts.values())
        for host, start_ns in starts.items():
            self.late_ms[host] = max(self.late_ms[host], (start_ns - first_ns) / NS_PER_MS)


async def _standard_input() -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


async def _results(
    cluster: DaskHosts, sent: Sent, offsets: Mapping[Host, Offset], load: Load, conducted: Coroutine[Any, Any, None], silence: Silence
) -> tuple[MergedResults, dict[Host, HostShare], dict[Host, int]]:
    """Merge results as they arrive. Return the merged result, and each load host's share and start time (on the host's own clock).

    ``conducted`` ends when the load has ended. From then on, the time for the results is limited.
    """
    left, is_done = set(sent), asyncio.Event()
    merged, shares, starts = MergedResults(), dict[Host, HostShare](), dict[Host, int]()

    async def collect() -> None:
        async for host, outcome in cluster.outcomes(sent):
            _require_success(host, outcome)
            result = outcome.result
            assert result is not None, "it succeeded"
            try:
                merged.add(result)
            except LoadError as error:
                raise LostHostError(f"load host {host.name}: {error.message}") from error
            starts[host] = result.document["start_ns"]
            shares[host] = share_of(host.name, result.document, offsets[host])
            left.discard(host)
        is_done.set()

    async def watch() -> None:
        while not is_done.is_set():
            if silent := silence.look([host.name for host in left if not sent[host].done()]):
                raise _silent(silent, await cluster.missing())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(is_done.wait(), LOOK_S)

    limit_s = load.timeout_s + RESULT_S + LEAD_PER_HOST_S * len(sent)
    try:
        async with asyncio.timeout(None) as limit, asyncio.TaskGroup() as group:

            async def conduct_load() -> None:
                await conducted
                limit.reschedule(asyncio.get_running_loop().time() + limit_s)

            group.create_task(conduct_load())
            group.create_task(collect())
            group.create_task(watch())
    except ExceptionGroup as errors:
        first = errors.exceptions[0]  # the error of a load host or of the scheduler
        raise (LostHostError(SCHEDULER_LOST) if isinstance(first, OSError) else first) from errors
    except TimeoutError:
        names = ", ".join(sorted(host.name for host in left))
        raise LostHostError(f"no result from load host {names} within {limit_s:.0f} s after the end") from None
    return merged, shares, starts


def _silent(names: Sequence[str], gone: Sequence[Host]) -> LostHostError:
    """Return the error for load hosts that were silent for too long. ``gone`` lists the hosts without a Dask worker."""
    for host in gone:
        if host.name in names:
            return LostHostError(f"lost load host {host.name}: its Dask worker at {host.address} is gone")
    return LostHostError(f"lost load host {', '.join(names)}: no heartbeat arrived for {SILENT_S:g} s")


def _say(phase: Phase) -> None:
    _say_line({"event": "progress", "phase": phase, "elapsed_s": 0.0})


def _say_line(event: Mapping[str, Any]) -> None:
    print(json.dumps(event), file=sys.stderr, flush=True)


def _require_success(host: Host, outcome: AgentOutcome) -> None:
    """Raise :class:`LoadError` with the message of a failed load generator, or :class:`LostHostError` if it was killed."""
    if outcome.exit_code < 0:
        raise LostHostError(f"load host {host.name}: httpbench-loadgen was killed by signal {-outcome.exit_code}")
    if outcome.exit_code != 0:
        said = outcome.messages.rpartition("\n")[2].removeprefix("error: ")
        reason = said or f"httpbench-loadgen ended with exit code {outcome.exit_code}"
        raise LoadError(f"load host {host.name}: {reason}", log_tail=outcome.messages or None)


def share_of(name: str, result: Document, clock: Offset) -> HostShare:
    """Return the share of one load host. ``start_ms`` is set later, by :func:`with_starts`."""
    generator, lag = result["generator"], result["generator_lag_us"]
    return HostShare(
        name=name,
        connections=result["config"]["connections"],
        threads=result["config"]["threads"],
        completed=result["requests"]["completed"],
        throughput_rps=result["throughput_rps"],
        busy=generator["busy"],
        waiting=generator["waiting"],
        stalled_us=generator["stalled_us"],
        lag_us_p99=lag["p99"] if lag else None,
        start_ms=0.0,
        round_trip_ms=clock.round_trip_ms,
    )


def lateness_ms(starts: Mapping[Host, int]) -> dict[Host, float]:
    """Return how much later than the first host each host started, in ms.

    ``starts`` are times on this machine's clock. They must be converted with clock readings from after the trial. The readings from before
    the trial determined the start times, so with those, all hosts would seem to have started at the same time.
    """
    first_ns = min(starts.values())
    return {host: (start_ns - first_ns) / NS_PER_MS for host, start_ns in starts.items()}


def with_starts(shares: Mapping[Host, HostShare], late_ms: Mapping[Host, float]) -> list[HostShare]:
    """Return the shares sorted by name, each with how much later its host started than the first host."""
    return sorted((share.model_copy(update={"start_ms": late_ms[host]}) for host, share in shares.items()), key=lambda share: share.name)
