"""Options that choose the source of the load, and a class for each source: this machine, one load host, or several load hosts.

Verbs use only the interface of :class:`LoadSource`. A single load host is reached by ssh. Several load hosts are the workers of a Dask
cluster.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from httpbench.cli.options.fields import Options, option
from httpbench.cli.terminal import console
from httpbench.errors import UsageError
from httpbench.text import listed

if TYPE_CHECKING:
    from httpbench.cluster.dask import Scheduler, Workers
    from httpbench.cluster.dask.survey import Surveyed
    from httpbench.host import Topology
    from httpbench.load import Tool
    from httpbench.model import Cores, LoadHost, Scaling, Target
    from httpbench.run import RunSpec

    Divide = Callable[[Topology, Scaling, int | None], Cores]

NATIVE = "native"
PEM_FILE = click.Path(dir_okay=False, path_type=Path)
NAMES_MAX = 8
WARMUP = {"warmup_s": 2.0, "warmup_max_s": None}
"""Default warm-up for several load hosts.

Its duration is fixed, because no single load host knows the total throughput, which would show a steady state.
"""


class LoadSource:
    """The source of a run's load. The base class represents this machine."""

    name: str | None = None
    """Names of the load hosts, as the printed plan shows them. ``None``: this machine."""

    def warmup(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return this source's default warm-up fields. Raise :class:`UsageError` if the source doesn't support the ``given`` fields."""
        return {}

    def generators(self, tools: Mapping[str, Tool]) -> dict[str, Tool]:
        """Return the load generators by name, with replacements where this source requires them."""
        return dict(tools)

    def divide(self, divide: Divide) -> Divide:
        """Return the function that divides this machine's cores for load from this source. ``divide`` is the function for local load."""
        return divide

    @contextmanager
    def placed(self, spec: RunSpec) -> Iterator[RunSpec]:
        """Connect to the source, and yield the run, changed so that its load generators run there."""
        yield spec


@dataclass(frozen=True, kw_only=True)
class SshSource(LoadSource):
    """One load host, reached by ssh."""

    name: str
    address: str | None
    """Address that targets listen on. ``None``: the user gave none."""
    install: bool

    def divide(self, divide: Divide) -> Divide:
        from httpbench.host import partition_for_load_host

        return functools.partial(partition_for_load_host, divide)

    @contextmanager
    def placed(self, spec: RunSpec) -> Iterator[RunSpec]:
        from httpbench.cluster import connected
        from httpbench.load import LoadGenerator

        generators = [generator for generator in spec.generators.values() if isinstance(generator, LoadGenerator)]
        install = _say if self.install else None
        backend = _backend(spec) if spec.backend_there else None
        with connected(self.name, generators, address=self.address, port=spec.port, install=install, backend=backend) as place:
            _say(_load_host(place.host))
            found = {name: place.generators[name] for name in spec.generators}
            yield replace(spec, load_place=place, generators=found, backend_place=place if backend else None)


@dataclass(frozen=True, kw_only=True)
class DaskSource(LoadSource):
    """Many load hosts: all workers of a Dask cluster."""

    name: str
    """Names of the load hosts, or the address of the Dask scheduler."""
    workers: Workers

    def warmup(self, given: Mapping[str, Any]) -> dict[str, Any]:
        if given.get("warmup_max_s") is not None:
            raise UsageError("--warmup-max does not apply to many load hosts: they warm up for a fixed time", hint="use --warmup")
        return WARMUP

    def generators(self, tools: Mapping[str, Tool]) -> dict[str, Tool]:
        from httpbench.cluster.dask import ManyHosts

        return {name: ManyHosts(self.workers) for name in tools}

    def divide(self, divide: Divide) -> Divide:
        from httpbench.host import partition_for_load_host

        return functools.partial(partition_for_load_host, divide) if self.workers.are_elsewhere else divide

    @contextmanager
    def placed(self, spec: RunSpec) -> Iterator[RunSpec]:
        from httpbench.run import ManyPlaces

        yield replace(spec, load_place=ManyPlaces(not self.workers.are_elsewhere, self.workers.address))


class LoadSourceOptions(Options):
    """Options that choose the load source."""

    load_hosts: tuple[str, ...] = option(
        "-r",
        "--load-host",
        "--remote",
        multiple=True,
        metavar="[USER@]HOST",
        default_text="this machine",
        help="Host that sends the load, reached by ssh. Several hosts, or the hosts in FILE.toml, share one load.",
    )
    deprecated: str | None = option("--load-hosts", hidden=True, help="Deprecated: -r HOST for each host.")
    scheduler: str | None = option(
        "--scheduler", metavar="ADDRESS", help="Send the load from all workers of this Dask cluster, such as tcp://10.0.0.1:8786."
    )
    dask_ca: Path | None = option("--dask-ca", type=PEM_FILE, metavar="FILE", help="Certificate authority of the Dask cluster (PEM).")
    dask_cert: Path | None = option(
        "--dask-cert", type=PEM_FILE, metavar="FILE", help="Certificate for connecting to the Dask cluster (PEM)."
    )
    dask_key: Path | None = option(
        "--dask-key",
        type=PEM_FILE,
        metavar="FILE",
        default_text="the key in the file of --dask-cert",
        help="Key of this certificate (PEM).",
    )
    dask_insecure: bool = option("--dask-insecure", is_flag=True, help="Use a Dask cluster on other hosts without TLS.")
    host: str | None = option(
        "--host",
        metavar="ADDRESS",
        default_text="source address of the route to the load hosts",
        help="With load hosts: address of this machine that targets listen on.",
    )
    install: bool = option(
        "--install", is_flag=True, help="With one load host: copy httpbench-loadgen to the user's cache there, if it is missing."
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The load hosts to reach by ssh, or the file that lists them."""
        return (*self.load_hosts, *filter(None, (self.deprecated or "").split(",")))

    @property
    def only(self) -> str | None:
        """The load host, if there is exactly one and it is reached by ssh."""
        names = self.names
        return names[0] if len(names) == 1 and not names[0].endswith(".toml") else None

    @contextmanager
    def opened(self, targets: Sequence[Target], generators: Iterable[str], *, port: int | None = None) -> Iterator[LoadSource]:
        """Check the options, start a cluster if necessary, and yield the load source.

        Args:
            targets: The targets that get the load.
            generators: Names of the load generators.
            port: Port that targets listen on. ``None``: the user gave none.

        Raises:
            UsageError: The options contradict each other, or the source cannot load these targets.
            LoadError: A load host does not start, or its versions differ from this machine's.
        """
        self._check()
        if not self.names and self.scheduler is None:
            yield LoadSource()
            return
        if client := next((target for target in targets if target.kind == "client"), None):
            hint = f"remove {'--scheduler' if self.scheduler else '--load-host'}"
            raise UsageError(f"{client.id} is a client, which makes its own load", hint=hint)
        if self.only:
            _check_reachable(targets, self.only)
            yield SshSource(name=self.only, address=self.host, install=self.install)
            return
        if other := next((name for name in generators if name != NATIVE), None):
            what = f"{other} cannot share one load among hosts: it cannot start at a given time, and reports no intervals to add up"
            raise UsageError(what, hint="remove --load-generator, or use one load host")
        with self._cluster() as scheduler:
            from httpbench.cluster.dask import Workers
            from httpbench.cluster.dask.survey import survey

            found = survey(scheduler, requires_equal=True)
            elsewhere = [each for each in found if not each.is_here]
            address = self._address(scheduler, targets, elsewhere, port)
            _say(_described(found, address))
            workers = Workers(scheduler, len(found), len(elsewhere) == len(found), address)
            yield DaskSource(name=self.scheduler or ", ".join(self.names), workers=workers)

    @contextmanager
    def surveyed(self) -> Iterator[list[Surveyed]]:
        """Yield the versions, clocks and speed of each load host, measured without a target. Raise the same errors as :meth:`opened`."""
        self._check()
        if self.only:
            yield [self._survey_by_ssh(self.only)]
            return
        if not self.names and self.scheduler is None:
            raise UsageError("no load host given", hint="add -r HOST for each load host, or --scheduler ADDRESS")
        with self._cluster() as scheduler:
            from httpbench.cluster.dask.survey import survey

            yield survey(scheduler, measures_rate=True)

    def _check(self) -> None:
        if self.deprecated:
            _say(f"hint: --load-hosts is deprecated; use {' '.join(f'-r {name}' for name in self.deprecated.split(',') if name)}")
        if self.names and self.scheduler:
            raise UsageError("--load-host and --scheduler both choose the load source", hint="remove one of them")
        if self.host is not None and not self.names and not self.scheduler:
            raise UsageError("--host requires a load host", hint="add -r HOST")
        if self.scheduler is None and (self.dask_ca or self.dask_cert or self.dask_key or self.dask_insecure):
            raise UsageError("--dask-ca, --dask-cert, --dask-key and --dask-insecure require --scheduler", hint="remove them")
        if bool(self.dask_ca) != bool(self.dask_cert) or (self.dask_key and not self.dask_cert):
            raise UsageError(
                "--dask-ca and --dask-cert are required together", hint="--dask-key may be missing if the key is in the file of --dask-cert"
            )
        if self.install and not self.only:
            raise UsageError("--install requires exactly one load host", hint="add -r HOST, or install httpbench on each load host")

    @contextmanager
    def _cluster(self) -> Iterator[Scheduler]:
        """Yield the Dask scheduler. If the user gave none, start a cluster by ssh first."""
        from httpbench.cluster import dask

        dask.require_dask()
        if self.scheduler is not None:
            from httpbench.cluster.dask.credentials import read_credentials, require_protected

            own = read_credentials(self.dask_ca, self.dask_cert, self.dask_key) if self.dask_ca and self.dask_cert else None
            given = dask.Scheduler(self.scheduler, own)
            if not self.dask_insecure:
                require_protected(given)
            yield given
            return
        dask.require_dask("cryptography")
        from httpbench.cluster.dask import by_ssh

        with by_ssh.started(by_ssh.read_hosts(self.names)) as scheduler:
            yield scheduler

    def _address(self, scheduler: Scheduler, targets: Sequence[Target], elsewhere: Sequence[Surveyed], port: int | None) -> str | None:
        """Return the address that targets listen on, or ``None`` if they listen on loopback or if all targets are URLs."""
        if not elsewhere:
            if self.host is not None:
                raise UsageError("all load hosts are this machine, so targets listen on loopback", hint="remove --host")
            return None
        _check_reachable(targets, elsewhere[0].name)
        if all(target.url is not None for target in targets):
            return None
        from httpbench.cluster.address import address_for
        from httpbench.cluster.dask.survey import require_reach

        address = address_for({each.name: each.address for each in elsewhere}, self.host)
        require_reach(scheduler, address, port)
        return address

    def _survey_by_ssh(self, name: str) -> Surveyed:
        from httpbench import load
        from httpbench.cluster import connected
        from httpbench.cluster.dask.orders import HostFacts
        from httpbench.cluster.dask.survey import Surveyed

        native = load.get(NATIVE)
        with connected(name, [native], address=self.host, install=_say if self.install else None) as place:
            facts = HostFacts(name, len(place.host.cpus), None, place.generators[NATIVE].version())
            return Surveyed(name, place.host.address, facts, place.host.round_trips.min_us / 1000, None)


def _check_reachable(targets: Sequence[Target], load_host: str) -> None:
    """Raise :class:`UsageError` if the load host cannot reach one of the targets."""
    from httpbench.cluster.address import is_loopback
    from httpbench.model import NetworkMode

    for target in targets:
        if target.url is not None and target.unix_socket is None and is_loopback(target.url):
            hint = "use an address that load hosts reach"
            raise UsageError(f"load host {load_host} cannot reach {target.url}, which is a loopback address", hint=hint)
        if target.unix_socket is not None:
            raise UsageError(f"load host {load_host} cannot reach {target.unix_socket}, which is a Unix socket of this machine")
        if target.isolation is not None and target.isolation.network is NetworkMode.BRIDGE:
            hint = "use --network host"
            raise UsageError(f"load host {load_host} cannot reach {target.id}, which is in a bridge network", hint=hint)


def _backend(spec: RunSpec) -> Target:
    """Return the backend of the proxies. Raise :class:`UsageError` if the run's workloads require different backends."""
    names = {name for planned in spec.plan.trials if (name := spec.workloads[planned.workload].backend)}
    if len(names) > 1:
        hint = "measure one workload at a time"
        raise UsageError(f"a load host runs one backend, but the workloads have {listed(sorted(names))}", hint=hint)
    return spec.targets[names.pop()]


def _say(text: str) -> None:
    console.echo(text, err=True)


def _load_host(load_host: LoadHost) -> str:
    from httpbench.report.words.numbers import plural

    cores = plural(load_host.cores, "core")
    if load_host.backend_cpus:
        cores += f", backend on CPU{'' if len(load_host.backend_cpus) == 1 else 's'} {','.join(map(str, load_host.backend_cpus))}"
    trip = f"round trip {load_host.round_trips.p50_us:,.0f} µs"
    return f"load host {load_host.name}: {cores}, {trip}; targets listen on {load_host.address}"


def _described(hosts: Sequence[Surveyed], address: str | None) -> str:
    from httpbench.report.words.numbers import plural

    names = ", ".join(each.name for each in hosts[:NAMES_MAX]) + (", …" if len(hosts) > NAMES_MAX else "")
    return f"{plural(len(hosts), 'load host')}: {names}" + (f"; targets listen on {address}" if address else "")
