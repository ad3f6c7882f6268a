"""The load generator of a run with many load hosts.

``run`` uses it like the native load generator on this machine, but its command starts the conductor, whose output has the same format.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from httpbench.cluster.dask.credentials import Scheduler
from httpbench.errors import LoadError, LostHostError, RequirementError
from httpbench.host.inherited import own_program
from httpbench.load import Job, Output, programs
from httpbench.load.native import Native
from httpbench.model import HostShare, Measurement

ERROR = "error: "
HINT = "hint: "
EXIT_LOST = 3
"""Exit code of a conductor that lost a load host."""


@dataclass(frozen=True, slots=True)
class Workers:
    """The workers of a Dask cluster, which are the load hosts."""

    scheduler: Scheduler
    hosts: int
    """Number of load hosts when the run began. A trial with another number of hosts would have a different load."""
    are_elsewhere: bool = False
    """Whether no load host is this machine."""
    address: str | None = None
    """Address of this machine that targets listen on. ``None``: loopback."""


def require_dask(*packages: str) -> None:
    """Raise :class:`RequirementError` if one of these packages, by default Dask, is not installed."""
    for package in packages or ("distributed",):
        if importlib.util.find_spec(package) is None:
            raise RequirementError(
                f"load from other hosts requires {package}, which is not installed", hint="pip install 'httpbench[cluster]'"
            )


class ManyHosts(Native):
    """The native load generator on all workers of a Dask cluster. Load hosts must have the same version of httpbench as this machine."""

    mixes = False
    reads_event_streams = False
    slack_s = 60.0  # hundreds of load hosts take a long time to get ready

    def __init__(self, workers: Workers):
        self._workers = workers

    def refuses(self, job: Job) -> str | None:
        hosts = self._workers.hosts
        if job.load.connections < hosts:
            return f"{hosts} load hosts require at least {hosts} connections"
        if job.workload.parts:
            return "several load hosts cannot send a mix, because results of its parts cannot be added up"
        return super().refuses(job)

    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        assert not warmup, "it warms up in the measuring process"
        orders = {
            "workers": asdict(self._workers),
            "environment": {name: os.environ[name] for name in (programs.OVERRIDE,) if name in os.environ},
            "url": job.url,
            "workload": job.workload.model_dump(mode="json"),
            "load": job.load.model_dump(mode="json"),
            "interval_s": job.interval_s,
            "trust": job.trust.model_dump(mode="json"),
            "scratch": str(job.scratch.absolute()),
            "in_slices": job.in_slices,
        }
        return own_program("httpbench.cluster.dask.conductor", str(job.write("cluster.json", json.dumps(orders))))

    def measurement(self, job: Job, output: Output) -> Measurement:
        if not output.stdout.strip():
            raise _failure(output)
        measurement = super().measurement(job, output)
        shares = tuple(HostShare.model_validate(share) for share in json.loads(output.stdout)["load_hosts"])
        return measurement.model_copy(update={"load_hosts": shares, "notes": (*measurement.notes, *notes(shares))})


def notes(shares: Sequence[HostShare]) -> tuple[str, ...]:
    """Return the notes on load hosts that are printed below a table."""
    if not shares:
        return ()
    found = [f"{len(shares)} load hosts generated the load." if len(shares) > 1 else "1 load host generated the load."]
    last = max(shares, key=lambda share: share.start_ms)
    slowest = max(shares, key=lambda share: share.lag_us_p99 or 0.0)
    if last.is_late:
        found.append(f"Load hosts started up to {last.start_ms:.0f} ms apart; {last.name} was last.")
    if slowest.lag_us_p99 is not None:
        found.append(f"{slowest.name} lagged the most: the p99 of its own lag is {slowest.lag_us_p99 / 1000:.2f} ms.")
    return tuple(found)


def _failure(output: Output) -> LoadError:
    """Return the error that the conductor reported."""
    lines = output.stderr.splitlines()
    errors = [line.removeprefix(ERROR) for line in lines if line.startswith(ERROR)]
    hints = [line.removeprefix(HINT) for line in lines if line.startswith(HINT)]
    if not errors:
        return LoadError(f"the load from other hosts {output.ending}, without a result", log_tail=output.tail or None)
    rest = [line for line in lines if not line.startswith((ERROR, HINT))]
    kind = LostHostError if output.exit_code == EXIT_LOST else LoadError
    return kind(errors[-1], hint=hints[-1] if hints else None, log_tail="\n".join(rest) or None)
