"""``httpbench hosts``: what load hosts can do."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import argument, command
from httpbench.cli.options.scheduler import SchedulerOptions
from httpbench.cli.options.shared import json_option
from httpbench.cli.terminal import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from httpbench.cluster.dask.survey import Surveyed

COLUMNS = ("load host", "cores", "httpbench", "loadgen", "round trip", "requests/s")


@dataclass(frozen=True, slots=True)
class HostsOptions:
    action: str = argument(type=click.Choice(["check"]))
    hosts: str = argument(metavar="HOST,…|FILE.toml|ADDRESS")
    json: bool = json_option()


@command(HostsOptions)
def hosts(options: HostsOptions) -> ExitCode:
    """Check load hosts before a run.

    Shows the cores and versions of each load host, the round trip through the scheduler, and how many requests/s one thread makes to a
    server on the same host. HOST and FILE.toml are as in --load-hosts: a Dask cluster is started there by ssh, and stopped. ADDRESS is that
    of a Dask scheduler. The exit code is 1 if a load host has other versions.

    \b
    httpbench hosts check load1,load2,load3            by ssh
    httpbench hosts check tcp://10.0.0.1:8786          the workers of a cluster
    httpbench hosts check tcp://10.0.0.1:8786 --json   JSON
    """
    is_address = "://" in options.hosts
    named = SchedulerOptions(scheduler=options.hosts, load_hosts=None) if is_address else SchedulerOptions(None, load_hosts=options.hosts)
    with named.started(None) as cluster:
        return _check(str(cluster.scheduler), options)


def _check(scheduler: str, options: HostsOptions) -> ExitCode:
    from httpbench import __version__, load
    from httpbench.cluster import dask

    dask.require_dask()
    from httpbench.cluster.dask.survey import survey

    found = survey(scheduler, measures_rate=True)
    if options.json:
        console.echo_json([dataclasses.asdict(host) for host in found])
    else:
        _show(found)
    ours = (__version__, load.get("native").version())
    wrong = [host.name for host in found if (host.facts.httpbench, host.facts.loadgen) != ours]
    if not wrong:
        return ExitCode.OK
    others = ", ".join(wrong)
    console.error(f"this machine has httpbench {ours[0]} and httpbench-loadgen {ours[1]}, unlike {others}", "install the same versions")
    return ExitCode.FAILED


def _show(found: Sequence[Surveyed]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, show_edge=False)
    for name in COLUMNS:
        table.add_column(name, justify="left" if name == COLUMNS[0] else "right")
    for host in found:
        facts = host.facts
        rate = "" if host.sink_rps is None else f"{host.sink_rps:,.0f}"
        table.add_row(host.name, str(facts.cpus), facts.httpbench, facts.loadgen or "not installed", f"{host.round_trip_ms:.2f} ms", rate)
    console.stdout().print(table)
