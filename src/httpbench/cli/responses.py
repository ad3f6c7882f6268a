"""``httpbench responses``: what each server answers, and what each client asks, byte for byte."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from httpbench.cli import console
from httpbench.cli.options import Selection, selection
from httpbench.errors import HttpbenchError

if TYPE_CHECKING:
    from httpbench.model import SampledRequest, SampledResponse


@click.command()
@selection
@click.option("--workload", metavar="NAME", help="What is asked. [default: plaintext; clients: client-small-1000; proxies: proxy-10kb]")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Builds at the same time.")
def responses(selection: Selection, workload: str | None, jobs: int) -> None:
    """Show a sampled response of each server, with its size; of clients, which are named, the request that they send.

    \b
    httpbench responses c/nginx golang   what two servers answer, byte for byte
    httpbench responses client:c/curl    what a client asks
    """
    from httpbench import host
    from httpbench.cli import progress
    from httpbench.cli.kinds import with_backends, workloads_of
    from httpbench.model import Kind, Scaling
    from httpbench.report import render_responses
    from httpbench.run import KINDS, backend_of, prepare

    known = selection.catalog()
    targets = selection.of(known, kind=None if selection.words else Kind.SERVER)
    asked = workloads_of(known, targets, workload)
    errors = console.stderr()
    with progress.watcher(errors, quiet=False) as watcher:
        built = prepare(with_backends(known, targets, asked), watcher, jobs)
    found: dict[str, SampledResponse | SampledRequest] = {}
    topology = host.read_topology()
    for target in targets:
        scaling = target.scaling[0]
        try:
            of_kind, workload_asked = KINDS[target.kind], asked[target.kind]
            if missing := [name for name in (target.id, workload_asked.backend) if name in built.errors]:
                raise built.errors[missing[0]]
            cores = of_kind.partition(topology, Scaling.SINGLE)
            backend = backend_of(workload_asked, known.targets, built, cores, topology)
            found[target.id] = of_kind.sample(target, scaling, workload_asked, built.folders[target.id], cores, backend)
        except HttpbenchError as error:
            built.errors[target.id] = error
    console.stdout().print(render_responses(found), markup=False)
    for name, problem in built.errors.items():
        errors.print(f"{name}: {problem.message}" + (f"; {problem.hint}" if problem.hint else ""), markup=False, soft_wrap=True)
    if built.errors:
        sys.exit(1)
