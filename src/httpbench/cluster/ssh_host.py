"""A load host reached by ssh. This module checks the host before a run, and starts load generators and backends on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from httpbench import host
from httpbench.cluster.address import address_for, round_trips
from httpbench.cluster.remote_programs import NATIVE, found_there, names_of, require_backend
from httpbench.errors import UsageError
from httpbench.host.mirror import FILES, mirrored
from httpbench.host.scratch import scratch_folder
from httpbench.isolate.remote_tree import RemoteCommand, RemoteTree
from httpbench.isolate.ssh import SshConnection
from httpbench.load import Job, LoadGenerator
from httpbench.model import LoadHost, LoadHostUse, RoundTrips, Target, Usage
from httpbench.sample.remote import AGENT_MODULES, seen_there

SCRATCH = "/scratch-of-the-backend"
"""Placeholder for the scratch folder of a backend on the load host."""
WITH_ITS_LOG = 'PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" exec "$@" 2>&1'
"""Script that runs a backend. It adds folders that usually only root has in ``PATH``, and redirects both output streams to one log."""
OUTPUT = ".out"
"""Suffix of files with the output of load generators. These files in the scratch folder aren't copied to the load host."""


@dataclass(frozen=True, slots=True)
class SshLoadHost:
    """A load host with an open ssh connection."""

    connection: SshConnection
    host: LoadHost
    generators: Mapping[str, LoadGenerator]
    """Load generators on the load host, by name."""
    seen: Mapping[str, Any] = field(repr=False)
    """Report of the load host's agent, including copies of kernel files."""
    own_address: str
    """Address at which this machine reaches the load host."""
    backend_cores: int = 0
    """Number of physical cores for a backend on the load host, or 0 if no backend runs there."""

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
        command = RemoteCommand(argv, str(job.scratch.absolute()), files, job.cpus, job.in_slices)
        with RemoteTree(self.connection, command, AGENT_MODULES) as tree:
            yield _RunningThere(tree, self)

    @contextmanager
    def serve(
        self, fill: Callable[[str, int, int, str], tuple[tuple[str, ...], Mapping[str, str]]], folder: Path
    ) -> Iterator[RemoteServer]:
        """Start the backend on its own cores, and stop it at the end of the block.

        Args:
            fill: Function that returns the backend's command and environment for an address, port, number of workers and scratch folder.
            folder: Folder with the files of the backend. The load host has copies of them while the backend runs.
        """
        self.connection.require()
        port = self.connection.ask({"do": "port", "address": self.own_address})["port"]
        argv, env = fill(self.own_address, port, self.backend_cores, SCRATCH)
        files = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}
        settings = [f"{name}={value}" for name, value in env.items()]
        command = RemoteCommand(("sh", "-c", WITH_ITS_LOG, "sh", "env", *settings, *argv), SCRATCH, files, self.host.backend_cpus)
        with RemoteTree(self.connection, command, AGENT_MODULES) as tree:
            yield RemoteServer(tree, self.own_address, port, self.host.backend_cpus)


class RemoteServer:
    """A server on a load host: the backend of proxies."""

    def __init__(self, tree: RemoteTree, host: str, port: int, cpus: Sequence[int]):
        self._tree, self._cpus = tree, cpus
        self.host, self.port = host, port
        self.log, self.stop = tree.stdout, tree.stop

    def death(self) -> str | None:
        """Return how the server ended, or ``None`` if it is still running.

        Raises :class:`~httpbench.errors.LostHostError` if the connection to its host is lost.
        """
        exits = self._tree.exits()
        return str(exits[0]) if exits else None

    def sampler(self) -> RemoteSampler:
        return RemoteSampler(self._tree, self._cpus)


class RemoteSampler:
    """A sampler for a server on a load host. The agent on that host takes the samples."""

    current = None
    """``None``, because this machine doesn't know the current usage."""

    def __init__(self, tree: RemoteTree, cpus: Sequence[int]):
        self._tree, self._cpus = tree, cpus

        self.start = self.mark = tree.mark

    def stop(self) -> Usage:
        return seen_there(self._tree.close(), self._cpus).usage


class _RunningThere:
    """A running load generator on the load host."""

    def __init__(self, tree: RemoteTree, place: SshLoadHost):
        self._tree, self._host, self._backend_cores = tree, place.host, place.backend_cores
        self.stderr, self.events = tree.stderr, tree.events
        self.stdout, self.stop, self.mark, self.exits, self.order = tree.stdout, tree.stop, tree.mark, tree.exits, tree.order

    def close(self) -> tuple[Usage, LoadHostUse | None]:
        seen = seen_there(self._tree.close(), self._host.cpus)
        use = LoadHostUse(
            name=self._host.name,
            cores=self._host.cores,
            occupancy=seen.occupancy,
            network=seen.network,
            backend_cores=self._backend_cores,
        )
        return seen.usage, use


@contextmanager
def connected(
    name: str,
    generators: Iterable[LoadGenerator] = (),
    *,
    address: str | None = None,
    port: int | None = None,
    install: Callable[[str], None] | None = None,
    backend: Target | None = None,
) -> Iterator[SshLoadHost]:
    """Connect to a load host and check it. The connection lasts until the block ends.

    Args:
        name: Name of the host in the form that ssh accepts.
        generators: The load generators of the run.
        address: Address of this machine that targets listen on, if the user chose one.
        port: Port of the targets, if the user chose one.
        install: Function that receives progress messages while a missing native load generator is installed. ``None``: don't install it.
        backend: The backend of proxies, if it runs on the load host.

    Raises:
        UsageError: There is no connection, no route or no load generator.
    """
    wanted = list(generators)
    with SshConnection(name) as connection:
        connection.open()
        own = address_for({name: connection.setting("hostname") or name.rpartition("@")[2]}, address)
        commands = [["ip", "-o", "route", "get", own]]
        programs = [*names_of(wanted), *(one.program for one in (backend.requires if backend else ()) if one.program)]
        seen = connection.ask({"do": "look", "files": FILES, "programs": programs, "commands": commands})
        if backend is not None:
            require_backend(name, backend, seen)
        found = found_there(connection, seen, wanted, install)
        trips, its_own = round_trips(connection, own, port)
        load_host, backend_cores = described(name, own, trips, seen, found, with_backend=backend is not None)
        yield SshLoadHost(connection, load_host, found, seen, its_own, backend_cores)


def described(
    name: str, address: str, trips: RoundTrips, seen: Mapping[str, Any], found: Mapping[str, LoadGenerator], *, with_backend: bool
) -> tuple[LoadHost, int]:
    """Return the load host as stored with the run, and the number of its cores for a backend.

    A backend gets half of the cores, rounded down. Without a backend, the number is 0.
    """
    cpus: tuple[int, ...] = tuple(seen["cpus"])
    with scratch_folder() as folder:
        root = mirrored(seen["files"], folder)
        topology = host.read_topology(root, cpus)
        environment = host.read_environment(root, {}, root, topology)
    # The copied kernel files don't contain these three properties. Without this update, the properties would describe this machine.
    versions = {name: generator.version() for name, generator in found.items()}
    its_own = {"open_files_limit": seen["open_files"], "versions": versions, "git_commit": None}
    for_backend = len(topology.cores) // 2 if with_backend else 0
    if with_backend and not for_backend:
        raise UsageError(f"{name} has one core, which the load generator and the backend would share", hint="use --backend-host here")
    count = len(topology.cores) - for_backend
    own, others = (tuple(sorted(cpu for core in part for cpu in core.cpus)) for part in (topology.cores[:count], topology.cores[count:]))
    there = LoadHost(
        name=name,
        address=address,
        cpus=own,
        cores=count,
        backend_cpus=others,
        round_trips=trips,
        environment=environment.model_copy(update=its_own),
    )
    return there, for_backend
