"""``httpbench responses``: what each server answers, byte for byte."""

from __future__ import annotations

import sys

import click

from httpbench import host
from httpbench.cli import console, progress
from httpbench.cli.options import Selection, selection
from httpbench.errors import HttpbenchError, SelectionError
from httpbench.model import Kind, SampledResponse, Scaling
from httpbench.report import render_responses
from httpbench.run import KINDS, prepare


@click.command()
@selection
@click.option("--workload", metavar="NAME", help="What is asked. [default: plaintext; clients: client-small-1000]")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Builds at the same time.")
def responses(selection: Selection, workload: str | None, jobs: int) -> None:
    """Show a sampled response of each server, with its size.

    \b
    httpbench responses c/nginx golang   what two servers answer, byte for byte
    """
    known = selection.catalog()
    asked = {kind: known.workload(workload or of_kind.workload) for kind, of_kind in KINDS.items()}
    targets = selection.of(known, kind=None if selection.words else Kind.SERVER)
    errors = console.stderr()
    with progress.watcher(errors, quiet=False) as watcher:
        built = prepare(targets, watcher, jobs)
    found: dict[str, SampledResponse] = {}
    topology = host.read_topology()
    for target in targets:
        scaling = target.scaling[0]
        try:
            if target.id in built.errors:
                raise built.errors[target.id]
            if target.kind not in KINDS:
                raise SelectionError(f"a {target.kind} cannot be asked")
            cores = host.partition(topology, Scaling.SINGLE)
            found[target.id] = KINDS[target.kind].sample(target, scaling, asked[target.kind], built.folders[target.id], cores)
        except HttpbenchError as error:
            built.errors[target.id] = error
    console.stdout().print(render_responses(found), markup=False)
    for name, problem in built.errors.items():
        errors.print(f"{name}: {problem.message}" + (f"; {problem.hint}" if problem.hint else ""), markup=False, soft_wrap=True)
    if built.errors:
        sys.exit(1)
