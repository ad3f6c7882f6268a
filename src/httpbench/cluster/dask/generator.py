"""The load generator of a run whose load comes from many load hosts: ours, started by a conductor.

It is what ``run`` gets in place of our load generator on this machine. Its command line is the conductor's, its output has the same form.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from httpbench.errors import LoadError, LostHostError, RequirementError
from httpbench.load import Job, KeptResponse, LoadGenerator, Output, Progress, get, programs
from httpbench.model import HostShare, Measurement, Requirement

PACKAGES = Path(__file__).resolve().parents[3]
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from httpbench.cluster.dask.conductor import main; main()"
"""Programs that the harness starts do not inherit PYTHONPATH, or where our own programs are."""
ERROR = "error: "
HINT = "hint: "
EXIT_LOST = 3
"""Of a conductor that lost a load host."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Where the load hosts are."""

    scheduler: str
    """Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``: each of its workers is a load host."""
    hosts: int
    """How many there were when the run began: trials with more or fewer would be of another load."""
    are_elsewhere: bool = False
    """Whether none of them is this machine."""
    address: str | None = None
    """Of this machine, at which they reach the targets that it starts. ``None``: loopback."""


def require_dask(*packages: str) -> None:
    """Raises :class:`RequirementError` if one of these packages is not installed; without any, Dask."""
    for package in packages or ("distributed",):
        if importlib.util.find_spec(package) is None:
            raise RequirementError(
                f"load from other hosts requires {package}, which is not installed", hint="pip install 'httpbench[cluster]'"
            )


class ManyHosts(LoadGenerator):
    """Our load generator, on all workers of a Dask cluster."""

    name = "native"
    warms_up_itself = True
    slack_s = 60.0  # hundreds of load hosts take a while to get ready

    def __init__(self, workers: Workers):
        self._workers = workers
        self._native = get(self.name)
        self.requirement: Requirement = self._native.requirement
        self.latency_meaning = self._native.latency_meaning

    def locate(self) -> str | None:
        """The one of this machine: load hosts must have the same version."""
        return self._native.locate()

    def version(self) -> str:
        return self._native.version()

    def refuses(self, job: Job) -> str | None:
        hosts = self._workers.hosts
        if job.load.connections < hosts:
            return f"{hosts} load hosts require at least {hosts} connections"
        if job.workload.parts:
            return "several load hosts cannot send a mix: its parts are not added up"
        return self._native.refuses(job)

    def argv(self, job: Job, *, warmup: bool) -> tuple[str, ...]:
        assert not warmup, "it warms up in the measuring process"
        orders = {
            "workers": asdict(self._workers),
            "environment": {name: os.environ[name] for name in (programs.OVERRIDE,) if name in os.environ},
            "url": job.url,
            "workload": job.workload.model_dump(mode="json"),
            "load": job.load.model_dump(mode="json"),
            "interval_s": job.interval_s,
            "scratch": str(job.scratch.absolute()),
        }
        return (sys.executable, "-c", START, str(PACKAGES), str(job.write("cluster.json", json.dumps(orders))))

    def progress(self, line: str) -> Progress | None:
        return self._native.progress(line)

    def kept_responses(self, job: Job, output: Output) -> tuple[KeptResponse, ...]:
        """Those of one load host."""
        return self._native.kept_responses(job, output)

    def measurement(self, job: Job, output: Output) -> Measurement:
        if not output.stdout.strip():
            raise _failure(output)
        measurement = self._native.measurement(job, output)
        shares = tuple(HostShare.model_validate(share) for share in json.loads(output.stdout)["load_hosts"])
        return measurement.model_copy(update={"load_hosts": shares, "notes": (*measurement.notes, *notes(shares))})


def notes(shares: Sequence[HostShare]) -> tuple[str, ...]:
    """What to know of the load hosts below a table."""
    if not shares:
        return ()
    said = [f"{len(shares)} load hosts made the load." if len(shares) > 1 else "1 load host made the load."]
    last = max(shares, key=lambda share: share.start_ms)
    slowest = max(shares, key=lambda share: share.lag_us_p99 or 0.0)
    if last.is_late:
        said.append(f"Load hosts started up to {last.start_ms:.0f} ms apart: {last.name} was last.")
    if slowest.lag_us_p99 is not None:
        said.append(f"Of all load hosts, {slowest.name} sent latest: its own lag has a p99 of {slowest.lag_us_p99 / 1000:.2f} ms.")
    return tuple(said)


def _failure(output: Output) -> LoadError:
    """The conductor's own sentence, and its hint."""
    lines = output.stderr.splitlines()
    said = [line.removeprefix(ERROR) for line in lines if line.startswith(ERROR)]
    hints = [line.removeprefix(HINT) for line in lines if line.startswith(HINT)]
    if not said:
        return LoadError(f"the load from other hosts {output.ending}, without a result", log_tail=output.tail or None)
    rest = [line for line in lines if not line.startswith((ERROR, HINT))]
    kind = LostHostError if output.exit_code == EXIT_LOST else LoadError
    return kind(said[-1], hint=hints[-1] if hints else None, log_tail="\n".join(rest) or None)
