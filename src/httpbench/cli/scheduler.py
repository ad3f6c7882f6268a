"""Options that let the load come from the workers of a Dask cluster instead of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from httpbench.cli.fields import option
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from httpbench.cluster.dask import Workers
    from httpbench.load import Tool
    from httpbench.model import Target

NATIVE = "native"
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

    @contextmanager
    def started(self, load_host: str | None) -> Iterator[SchedulerOptions]:
        """The options with the scheduler of the load hosts that were named, whose cluster runs until the block ends.

        Raises :class:`UsageError` if they cannot be read, or if ``--load-host`` names another one, and
        :class:`~httpbench.errors.LoadError` if they do not start.
        """
        many = "--scheduler" if self.scheduler else "--load-hosts"
        if load_host is not None and (self.scheduler or self.load_hosts):
            raise UsageError(f"--load-host and {many} both say where the load comes from", hint="remove one of them")
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

    def workers(self, generators: Iterable[str], targets: Sequence[Target]) -> Workers | None:
        """The load hosts, after a check of each; ``None``: this machine.

        Raises :class:`UsageError` if they cannot make this load, and :class:`~httpbench.errors.LoadError` if one is not as it must be.
        """
        if self.scheduler is None:
            return None
        for target in targets:
            if target.kind == "client":
                raise UsageError(f"{target.id} is a client, which makes its own load", hint="remove --scheduler")
        for name in generators:
            if name != NATIVE:
                raise UsageError(f"--scheduler applies to the load generator {NATIVE} only, not to {name}", hint="remove --load-generator")
        from httpbench.cluster import dask

        dask.require_dask()
        from httpbench.cluster.dask.survey import survey

        found = survey(self.scheduler, requires_equal=True)
        check_reached(targets, [host.facts.hostname for host in found])
        return dask.Workers(self.scheduler, len(found))

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


def check_reached(targets: Sequence[Target], hostnames: Sequence[str]) -> None:
    """Raises :class:`UsageError` if a target listens on loopback and a load host is another machine."""
    import socket

    others = sorted({name for name in hostnames if name != socket.gethostname()})
    for target in targets:
        if others and _is_on_loopback(target):
            raise UsageError(
                f"{target.id} is reached from this machine only, and not from load host {others[0]}",
                hint="start the server yourself, and use `httpbench run --url` with an address that load hosts reach",
            )


def _is_on_loopback(target: Target) -> bool:
    """Targets that httpbench starts listen on loopback."""
    import ipaddress
    from urllib.parse import urlsplit

    if target.url is None:
        return True
    name = urlsplit(target.url).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
