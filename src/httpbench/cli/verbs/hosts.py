"""``httpbench hosts``: check load hosts before a run."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, argument, command, group
from httpbench.cli.options.load_source import LoadSourceOptions
from httpbench.cli.options.output import json_option
from httpbench.cli.terminal import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from httpbench.cluster.dask.survey import Surveyed

COLUMNS = ("load host", "cores", "httpbench", "loadgen", "round trip", "requests/s")


class HostsOptions(Options):
    action: str = argument(type=click.Choice(["check"]))
    source: LoadSourceOptions = group(LoadSourceOptions)
    json: bool = json_option()


@command(HostsOptions)
def hosts(options: HostsOptions) -> ExitCode | None:
    """Check load hosts before a run.

    Shows the cores, the versions and the round-trip time of each load host. With several load hosts, starts a Dask cluster on them over
    ssh, stops it at the end, and also shows how many requests/s one thread sends to a server on the same host. Exits with 1 if versions
    differ.

    \b
    httpbench hosts check -r load1 -r load2                       by ssh
    httpbench hosts check --scheduler tcp://10.0.0.1:8786         a cluster
    httpbench hosts check --scheduler tcp://10.0.0.1:8786 --json  JSON
    """
    from httpbench import __version__, load

    with options.source.surveyed() as found:
        if options.json:
            console.echo_json([dataclasses.asdict(host) for host in found])
        else:
            _show(found)
    own = (__version__, load.get("native").version())
    wrong = [host.name for host in found if (host.facts.httpbench or __version__, host.facts.loadgen) != own]
    if not wrong:
        return None
    message = f"{', '.join(wrong)} differ from this machine, which has httpbench {own[0]} and httpbench-loadgen {own[1]}"
    console.error(message, "install the same versions")
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
        versions = (facts.httpbench or "not needed", facts.loadgen or "not installed")
        table.add_row(host.name, str(facts.cpus), *versions, f"{host.round_trip_ms:.2f} ms", rate)
    console.stdout().print(table)
