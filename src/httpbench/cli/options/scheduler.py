"""Options that let the load come from the workers of a Dask cluster instead of this machine."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from httpbench.cli.options.fields import option
from httpbench.cli.terminal import console
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from httpbench.cluster.dask import Workers
    from httpbench.cluster.dask.survey import Surveyed
    from httpbench.host import Topology
    from httpbench.load import Tool
    from httpbench.model import Cores, Scaling, Target
    from httpbench.run import LoadPlace

    Divide = Callable[[Topology, Scaling, int | None], Cores]

NATIVE = "native"
NAMES_MAX = 8
WARMUP = {"warmup_s": 2.0, "warmup_max_s": None}
"""Load hosts warm up together for a fixed time: a steady state shows only in their sum."""


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """Where the load comes from. ``None``: this machine."""

    scheduler: str | None = option(
        "--scheduler",
        metavar="ADDRESS",
        default_text="load from this machine",
        help="Load from all workers of this Dask cluster, such as tcp://10.0.0.1:8786.",
    )
    load_hosts: str | None = option(
        "--load-hosts",
        metavar="HOST,…|FILE.toml",
        default_text="load from this machine",
        help="Load from these hosts, by a Dask cluster that is started there by ssh.",
    )

    @property
    def named(self) -> str | None:
        """The option that names the load hosts."""
        return "--scheduler" if self.scheduler else "--load-hosts" if self.load_hosts else None

    @contextmanager
    def started(self, load_host: str | None) -> Iterator[SchedulerOptions]:
        """The options with the scheduler of the load hosts that were named, whose cluster runs until the block ends.

        Raises :class:`UsageError` if they cannot be read, or if ``--load-host`` names another one, and
        :class:`~httpbench.errors.LoadError` if they do not start.
        """
        if load_host is not None and self.named:
            raise UsageError(f"--load-host and {self.named} both say where the load comes from", hint="remove one of them")
        if self.load_hosts is None:
            yield self
            return
        if self.scheduler is not None:
            raise UsageError("--scheduler and --load-hosts both say where the load comes from", hint="remove one of them")
        from httpbench.cluster import dask

        dask.require_dask("distributed", "asyncssh")
        from httpbench.cluster.dask import by_ssh

        with by_ssh.started(by_ssh.read_hosts(self.load_hosts)) as address:
            yield replace(self, scheduler=address, load_hosts=None)

    def workers(
        self, generators: Iterable[str], targets: Sequence[Target], *, host: str | None = None, port: int | None = None
    ) -> Workers | None:
        """The load hosts, after a check of each; ``None``: this machine.

        ``host``: the address that targets listen on, and ``port``, if they were named.

        Raises :class:`UsageError` if they cannot make this load, and :class:`~httpbench.errors.LoadError` if one is not as it must be.
        """
        if self.scheduler is None:
            return None
        for target in targets:
            if target.kind == "client":
                raise UsageError(f"{target.id} is a client, which makes its own load", hint=f"remove {self.named}")
        for name in generators:
            if name != NATIVE:
                what = f"{name} cannot share one load among hosts: it waits for no common start, and reports no intervals to add up"
                raise UsageError(what, hint="remove --load-generator, or use it with --load-host")
        from httpbench.cluster import dask

        dask.require_dask()
        from httpbench.cluster.dask.survey import survey

        found = survey(self.scheduler, requires_equal=True)
        elsewhere = [each for each in found if not each.is_here]
        address = self._address(targets, elsewhere, host, port)
        console.stderr().print(_described(found, address), markup=False, soft_wrap=True)
        return dask.Workers(self.scheduler, len(found), len(elsewhere) == len(found), address)

    def _address(self, targets: Sequence[Target], elsewhere: Sequence[Surveyed], host: str | None, port: int | None) -> str | None:
        """Of this machine, at which load hosts reach the targets that httpbench starts; ``None``: loopback."""
        assert self.scheduler is not None
        if not elsewhere:
            if host is not None:
                raise UsageError("all load hosts are this machine, so targets listen on loopback", hint="remove --host")
            return None
        check_reached(targets, elsewhere[0].name)
        if all(target.url is not None for target in targets):
            return None
        from httpbench.cluster.dask import reach
        from httpbench.cluster.dask.survey import require_reach

        address = reach.chosen({each.name: each.address for each in elsewhere}, host)
        require_reach(self.scheduler, address, port)
        return address

    def warmup(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Fields of a load that hold unless an option overrides them. Raises :class:`UsageError` if ``given`` asks for the impossible."""
        if self.scheduler is None:
            return {}
        if given.get("warmup_max_s") is not None:
            raise UsageError("--warmup-max does not apply to --scheduler: load hosts warm up for a fixed time", hint="use --warmup")
        return WARMUP


def over(workers: Workers | None, tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """The load generators of a run, on these load hosts if there are any."""
    if workers is None:
        return dict(tools)
    from httpbench.cluster.dask import ManyHosts

    return {name: ManyHosts(workers) for name in tools}


def placed(workers: Workers | None) -> LoadPlace:
    """Where load generators run."""
    from httpbench.run import HERE, ManyPlaces

    return HERE if workers is None else ManyPlaces(not workers.are_elsewhere, workers.address)


def divided(workers: Workers | None, divide: Divide) -> Divide:
    """How the cores of this machine are divided: load generators on other machines get none."""
    from httpbench.host import partition_for_load_host

    return functools.partial(partition_for_load_host, divide) if workers and workers.are_elsewhere else divide


def check_reached(targets: Sequence[Target], load_host: str) -> None:
    """Raises :class:`UsageError` if this load host, which is another machine, cannot reach one of the targets."""
    from httpbench.model import NetworkMode

    for target in targets:
        if target.url is not None and _is_local(target.url):
            raise UsageError(
                f"{target.url} is reached from this machine only, and not from load host {load_host}",
                hint="use an address that load hosts reach",
            )
        if target.isolation is not None and target.isolation.network is NetworkMode.BRIDGE:
            raise UsageError(f"{target.id} is in a bridge network, which a load host does not reach", hint="use --network host")


def _is_local(url: str) -> bool:
    """Whether the URL's host is this machine's loopback."""
    import ipaddress
    from urllib.parse import urlsplit

    name = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def _described(hosts: Sequence[Surveyed], address: str | None) -> str:
    """What makes the load, in one line."""
    names = ", ".join(each.name for each in hosts[:NAMES_MAX]) + (", …" if len(hosts) > NAMES_MAX else "")
    count = f"{len(hosts)} load host{'' if len(hosts) == 1 else 's'}"
    where = f"; targets listen on {address}" if address else ""
    return f"{count}: {names}{where}"
