"""A load host that ssh reaches: the checks before a run, and the place where the run starts its load generators."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from httpbench import host
from httpbench.cluster.address import chosen, round_trips
from httpbench.cluster.remote_programs import NATIVE, found_there, names_of
from httpbench.host.mirror import FILES, mirrored
from httpbench.isolate import Exit
from httpbench.isolate.remote_tree import RemoteCommand, RemoteTree
from httpbench.isolate.ssh import SshConnection
from httpbench.load import Job, LoadGenerator
from httpbench.model import Environment, LoadHost, LoadHostUse, RoundTrips, Usage
from httpbench.sample.remote import AGENT_MODULES, seen_there

OUTPUT = ".out"
"""Files in a scratch folder that end so are what load generators printed."""


@dataclass(frozen=True, slots=True)
class SshLoadHost:
    """The place of load generators: one host, over one connection."""

    connection: SshConnection
    host: LoadHost
    generators: Mapping[str, LoadGenerator]
    """As they are there, by name."""
    seen: Mapping[str, Any] = field(repr=False)
    """What the agent saw of the host, with its kernel files."""

    is_here: ClassVar[bool] = False

    @property
    def address(self) -> str:
        return self.host.address

    @property
    def cpus(self) -> tuple[int, ...]:
        return self.host.cpus

    @property
    def is_gone(self) -> bool:
        return self.connection.is_gone

    def native(self) -> LoadGenerator | None:
        return self.generators.get(NATIVE)

    @contextmanager
    def start(self, generator: LoadGenerator, job: Job, *, warmup: bool) -> Iterator[_RunningThere]:
        argv = generator.argv(job, warmup=warmup)
        files = {path.name: path.read_text(encoding="utf-8") for path in job.scratch.iterdir() if path.suffix != OUTPUT and path.is_file()}
        command = RemoteCommand(argv, str(job.scratch.absolute()), files, job.cpus)
        with RemoteTree(self.connection, command, AGENT_MODULES) as tree:
            yield _RunningThere(tree, self.host)


class _RunningThere:
    """A load generator that runs on the load host."""

    def __init__(self, tree: RemoteTree, load_host: LoadHost):
        self._tree, self._host = tree, load_host
        self.stdout, self.stop, self.mark = tree.stdout, tree.stop, tree.mark

    @property
    def stderr(self) -> int:
        return self._tree.stderr

    @property
    def events(self) -> int:
        return self._tree.events

    def exits(self) -> Sequence[Exit]:
        return self._tree.exits()

    def close(self) -> tuple[Usage, LoadHostUse | None]:
        seen = seen_there(self._tree.close(), self._host.cpus)
        use = LoadHostUse(name=self._host.name, cores=self._host.cores, occupancy=seen.occupancy, network=seen.network)
        return seen.usage, use


@contextmanager
def connected(
    name: str, generators: Iterable[LoadGenerator] = (), *, address: str | None = None, port: int | None = None, install: bool = False
) -> Iterator[SshLoadHost]:
    """A load host that was checked, until the block ends. ``address``: of this machine; ``port``: of targets, if one was chosen.

    Raises :class:`~httpbench.errors.UsageError` if it cannot be one: no connection, no route, no load generator.
    """
    wanted = list(generators)
    with SshConnection(name) as connection:
        connection.open()
        own = chosen(connection, address)
        commands = [["ip", "-o", "route", "get", own]]
        seen = connection.ask({"do": "look", "files": FILES, "programs": names_of(wanted), "commands": commands})
        found = found_there(connection, seen, wanted, install=install)
        trips = round_trips(connection, own, port)
        yield SshLoadHost(connection, _described(name, own, trips, seen, found), found, seen)


def _described(name: str, address: str, trips: RoundTrips, seen: Mapping[str, Any], found: Mapping[str, LoadGenerator]) -> LoadHost:
    """The load host as it is stored."""
    cpus: tuple[int, ...] = tuple(seen["cpus"])
    with tempfile.TemporaryDirectory(prefix="httpbench-") as folder:
        root = mirrored(seen["files"], Path(folder))
        topology = host.read_topology(root, cpus)
        environment = host.read_environment(root, {}, root, topology)
    return LoadHost(
        name=name,
        address=address,
        cpus=cpus,
        cores=len(topology.cores),
        round_trips=trips,
        environment=_its_own(environment, seen, found),
    )


def _its_own(environment: Environment, seen: Mapping[str, Any], found: Mapping[str, LoadGenerator]) -> Environment:
    """Without what is this machine's: the limit on open files, and versions of libraries."""
    versions = {name: generator.version() for name, generator in found.items()}
    return environment.model_copy(update={"open_files_limit": seen["open_files"], "versions": versions, "git_commit": None})
