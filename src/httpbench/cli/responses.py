"""``httpbench responses``: what each server answers, byte for byte."""

from __future__ import annotations

import sys

import click

from httpbench import host
from httpbench.cli import console, progress
from httpbench.cli.options import Selection, selection
from httpbench.errors import HttpbenchError
from httpbench.model import Kind, SampledResponse, Scaling
from httpbench.report import render_responses
from httpbench.run import prepare, sample


@click.command()
@selection
@click.option("--workload", default="plaintext", metavar="NAME", show_default=True, help="What is asked.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Builds at the same time.")
def responses(selection: Selection, workload: str, jobs: int) -> None:
    """Show a sampled response of each server, with its size.

    \b
    httpbench responses c/nginx golang   what two servers answer, byte for byte
    """
    known = selection.catalog()
    asked = known.workload(workload)
    targets = selection.of(known, kind=Kind.SERVER)
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
            found[target.id] = sample(target, scaling, asked, built.folders[target.id], host.partition(topology, Scaling.SINGLE))
        except HttpbenchError as error:
            built.errors[target.id] = error
    console.stdout().print(render_responses(found), markup=False)
    for name, problem in built.errors.items():
        errors.print(f"{name}: {problem.message}" + (f"; {problem.hint}" if problem.hint else ""), markup=False, soft_wrap=True)
    if built.errors:
        sys.exit(1)
