"""Options that say which other host sends the load."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from httpbench.cli.options.fields import option
from httpbench.cli.terminal import console
from httpbench.errors import UsageError
from httpbench.text import listed

if TYPE_CHECKING:
    from httpbench.host import Topology
    from httpbench.model import Cores, LoadHost, Scaling, Target
    from httpbench.run import RunSpec


@dataclass(frozen=True, slots=True)
class LoadHostOptions:
    """The host that sends the load. ``None``: this machine does."""

    load_host: str | None = option(
        "-r",
        "--load-host",
        "--remote",
        metavar="[USER@]HOST",
        default_text="this machine",
        help="Host that sends the load, reached by ssh with your own configuration.",
    )
    host: str | None = option(
        "--host",
        metavar="ADDRESS",
        default_text="the source address of the route to it",
        help="With load from other hosts: address of this machine that targets listen on.",
    )
    install: bool = option(
        "--install", is_flag=True, help="With --load-host: copy httpbench-loadgen to the user's cache there, if it is missing."
    )

    def check(self, targets: Sequence[Target], *, many: bool = False) -> None:
        """Raises :class:`UsageError` if the options contradict each other, or one of the targets. ``many``: others name load hosts."""
        if self.load_host is None:
            given = {"--host": self.host is not None and not many, "--install": self.install}
            for name in (name for name, is_given in given.items() if is_given):
                raise UsageError(f"{name} applies to a load host only", hint="add --load-host HOST")
            return
        for target in targets:
            self._check(target)

    def divide(self, divide: Callable[[Topology, Scaling, int | None], Cores]) -> Callable[[Topology, Scaling, int | None], Cores]:
        """How the cores of this machine are divided."""
        from httpbench.host import partition_for_load_host

        return divide if self.load_host is None else functools.partial(partition_for_load_host, divide)

    @contextmanager
    def placed(self, spec: RunSpec) -> Iterator[RunSpec]:
        """The run with its load generators on the load host, which stays connected. Raises :class:`UsageError` if it cannot be one."""
        if self.load_host is None:
            yield spec
            return
        from httpbench.cluster import connected
        from httpbench.load import LoadGenerator

        generators = [generator for generator in spec.generators.values() if isinstance(generator, LoadGenerator)]
        install = _say if self.install else None
        backend = _backend(spec) if spec.backend_there else None
        with connected(self.load_host, generators, address=self.host, port=spec.port, install=install, backend=backend) as place:
            _say(_described(place.host))
            found = {name: place.generators[name] for name in spec.generators}
            yield replace(spec, load_place=place, generators=found, backend_place=place if backend else None)

    def _check(self, target: Target) -> None:
        from httpbench.model import Kind, NetworkMode

        if target.kind is Kind.CLIENT:
            raise UsageError(f"{target.id} is a client, which makes its own load", hint="remove --load-host")
        if target.isolation is not None and target.isolation.network is NetworkMode.BRIDGE:
            raise UsageError(f"{target.id} is in a bridge network, which a load host does not reach", hint="use --network host")
        if target.url is not None and _is_local(target.url):
            raise UsageError(f"{target.url} is reached from this machine only", hint="use an address that the load host reaches")


def _backend(spec: RunSpec) -> Target:
    """The server behind the proxies. Raises :class:`UsageError` if workloads have different ones."""
    names = {name for planned in spec.plan.trials if (name := spec.workloads[planned.workload].backend)}
    if len(names) > 1:
        raise UsageError(f"a load host runs one backend, not {listed(sorted(names))}", hint="measure one workload after the other")
    return spec.targets[names.pop()]


def _is_local(url: str) -> bool:
    """Whether the URL's host is this machine's loopback."""
    import ipaddress
    from urllib.parse import urlsplit

    name = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def _say(text: str) -> None:
    console.stderr().print(text, markup=False, soft_wrap=True)


def _described(load_host: LoadHost) -> str:
    cores = f"{load_host.cores} core{'' if load_host.cores == 1 else 's'}"
    if load_host.backend_cpus:
        numbers = ",".join(map(str, load_host.backend_cpus))
        cores += f", backend on CPU{'' if len(load_host.backend_cpus) == 1 else 's'} {numbers}"
    trip = f"round trip {load_host.round_trips.p50_us:,.0f} µs"
    return f"load host {load_host.name}: {cores}, {trip}; targets listen on {load_host.address}"
