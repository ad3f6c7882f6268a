"""``httpbench probe``: find out how servers handle requests that the contract doesn't cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, command, group, option
from httpbench.cli.options.output import json_option
from httpbench.cli.options.shared import Selection, jobs_option
from httpbench.cli.options.transport import TransportOptions
from httpbench.cli.terminal import console
from httpbench.errors import HttpbenchError

if TYPE_CHECKING:
    from httpbench.model import Probed, Target


class ProbeOptions(Options):
    selection: Selection = group(Selection)
    workload: str = option("--workload", default="plaintext", metavar="NAME", help="Workload that defines a correct response.")
    transport: TransportOptions = group(TransportOptions)
    details: bool = option("--details", is_flag=True, help="Show every observation, with request and response.")
    json: bool = json_option()
    jobs: int = jobs_option()


@command(ProbeOptions)
def probe(options: ProbeOptions) -> ExitCode:
    """Find out whether servers route, parse or respond to anything.

    Labels each server by its behavior: canned, loop, parser, router or server. `bench` shows the same label. Default: all servers.

    \b
    httpbench probe                          a table of all servers
    httpbench probe c/epoll/level --details  each request and response
    httpbench probe --targets ~/mine mine    a target of your own
    """
    from httpbench import host
    from httpbench.model import Kind, Scaling
    from httpbench.report.words.targets import probe_lines
    from httpbench.run import prepare, probe_target

    known = options.selection.catalog()
    workload = known.workload(options.workload)
    targets = options.selection.of(known, kind=Kind.SERVER)
    targets = options.transport.serving(targets, named=bool(options.selection.words))
    targets = [options.transport.built(target, workload) for target in targets]
    with console.observer() as observer:
        built = prepare(targets, observer, options.jobs)
    found: list[tuple[Target, Probed]] = []
    topology, transport = host.read_topology(), options.transport.transport()
    for target in targets:
        try:
            if target.build_name in built.errors:
                raise built.errors[target.build_name]
            cores = host.partition(topology, Scaling.SINGLE)
            found.append((target, probe_target(target, target.scaling[0], workload, built.folders[target.build_name], cores, transport)))
        except HttpbenchError as error:
            built.errors[target.build_name] = error
            console.problem(target.id, error)
    if options.json:
        console.echo_json({target.id: {"category": target.category, **probed.model_dump(mode="json")} for target, probed in found})
    elif options.details:
        for line in (line for target, probed in found for line in probe_lines(target, probed)):
            console.echo(line)
    else:
        _show(found)
    return ExitCode.FAILED if built.errors else ExitCode.OK


def _show(found: Sequence[tuple[Target, Probed]]) -> None:
    from rich.table import Table

    from httpbench.model import Label
    from httpbench.probe import MEANINGS
    from httpbench.report.words.targets import probe_table, probe_warning

    header, rows = probe_table(found)
    table = Table(box=None, pad_edge=False)
    for title in header:
        table.add_column(title, overflow="fold", no_wrap=title == header[0], justify="right" if title == "Res" else "left")
    for row in rows:
        table.add_row(*row)
    console.stdout().print(table)
    console.echo("")
    labels = {probed.label for _, probed in found}
    for label in (label for label in Label if label in labels):
        console.echo(f"{label}: {MEANINGS[label]}")
    for target, probed in found:
        if warning := probe_warning(target, probed):
            console.echo(f"warning: {warning}")
