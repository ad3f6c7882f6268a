"""``httpbench probe``: what servers do beyond what a load asks."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from httpbench.cli import console
from httpbench.cli.options import Selection, selection
from httpbench.errors import HttpbenchError

if TYPE_CHECKING:
    from httpbench.model import Probed, Target


@click.command()
@selection
@click.option("--workload", default="plaintext", metavar="NAME", show_default=True, help="What a right answer is.")
@click.option("--details", is_flag=True, help="Every observation, with what was sent and what came.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Builds at the same time.")
def probe(selection: Selection, workload: str, details: bool, as_json: bool, jobs: int) -> None:
    """Look at how real servers are: do they route, parse, read whole requests, or answer whatever arrives?

    Without rows: all servers. Each gets one word, from what it was seen to do: canned, loop, parser, router or server. bench shows the
    same word beside its figures.

    \b
    httpbench probe                          a table of all servers
    httpbench probe c/epoll/level --details  what was sent to one, and what came
    httpbench probe --targets ~/mine mine    a target of your own
    """
    from httpbench import host
    from httpbench.cli import progress
    from httpbench.model import Kind, Scaling
    from httpbench.run import prepare, probe_target

    known = selection.catalog()
    asked = known.workload(workload)
    targets = selection.of(known, kind=Kind.SERVER)
    errors = console.stderr()
    with progress.watcher(errors, quiet=False) as watcher:
        built = prepare(targets, watcher, jobs)
    found: list[tuple[Target, Probed]] = []
    topology = host.read_topology()
    for target in targets:
        try:
            if target.id in built.errors:
                raise built.errors[target.id]
            cores = host.partition(topology, Scaling.SINGLE)
            found.append((target, probe_target(target, target.scaling[0], asked, built.folders[target.id], cores)))
        except HttpbenchError as error:
            built.errors[target.id] = error
            errors.print(f"{target.id}: {error.message}" + (f"; {error.hint}" if error.hint else ""), markup=False, soft_wrap=True)
    if as_json:
        document = {target.id: {"category": target.category, **probed.model_dump(mode="json")} for target, probed in found}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _show(found, details=details)
    if built.errors:
        sys.exit(1)


def _show(found: Sequence[tuple[Target, Probed]], *, details: bool) -> None:
    from rich.table import Table

    from httpbench.model import Label
    from httpbench.probe import MEANINGS
    from httpbench.report import probe_lines, probe_table, probe_warning

    output = console.stdout()
    if details:
        for target, probed in found:
            for line in probe_lines(target, probed):
                output.print(line, markup=False, soft_wrap=True)
        return
    header, rows = probe_table(found)
    table = Table(box=None, pad_edge=False)
    for title in header:
        table.add_column(title, overflow="fold", no_wrap=title == "Row", justify="right" if title == "Res" else "left")
    for row in rows:
        table.add_row(*row)
    output.print(table)
    output.print()
    labels = {probed.label for _, probed in found}
    for label in (label for label in Label if label in labels):
        output.print(f"{label}: {MEANINGS[label]}", markup=False, soft_wrap=True)
    for target, probed in found:
        if warning := probe_warning(target, probed):
            output.print(f"warning: {warning}", markup=False, soft_wrap=True)
