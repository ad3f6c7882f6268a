"""``httpbench verify``: build, start, check the contract, stop."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from httpbench.cli import console
from httpbench.cli.options import Selection, selection

if TYPE_CHECKING:
    from rich.console import Console

    from httpbench.model import Probed, Target
    from httpbench.run import Verified


@click.command()
@selection
@click.option("--scaling", type=click.Choice(["single", "multi"]), multiple=True, help="[default: both, where the row has both]")
@click.option("--workload", metavar="NAME", help="What is asked. [default: plaintext; clients: client-small-1000; proxies: proxy-10kb]")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Builds at the same time.")
def verify(selection: Selection, scaling: tuple[str, ...], workload: str | None, jobs: int) -> None:
    """Build rows, start them, check each clause of the contract, and stop them. Exit code 1 when one does not keep it.

    Without rows: all servers.

    \b
    httpbench verify c/epoll/level           one row, in each way in which it scales
    httpbench verify proxy:c/haproxy         a proxy, with both of its ends in our hands
    httpbench verify --targets ~/mine mine   a target of your own, before it is measured
    """
    from httpbench import host
    from httpbench.cli import progress
    from httpbench.cli.kinds import with_backends, workloads_of
    from httpbench.model import Kind, Scaling
    from httpbench.run import KINDS, backend_of, prepare, scaling_of

    known = selection.catalog()
    targets = selection.of(known, kind=None if selection.words else Kind.SERVER)
    asked = workloads_of(known, targets, workload)
    output, errors = console.stdout(), console.stderr()
    with progress.watcher(errors, quiet=False) as watcher:
        built = prepare(with_backends(known, targets, asked), watcher, jobs)
    topology = host.read_topology()
    passed = not built.errors
    for target in targets:
        of_kind, workload_asked = KINDS[target.kind], asked[target.kind]
        if missing := [name for name in (target.id, workload_asked.backend) if name in built.errors]:
            error = built.errors[missing[0]]
            output.print(f"{target.id}: not verified: {error.message}", markup=False, soft_wrap=True)
            _details(output, error.hint, error.log_tail)
            continue
        for word in scaling or ("single", "multi"):
            own = scaling_of(target, Scaling(word))
            if own is not None:
                cores = of_kind.partition(topology, own)
                backend = backend_of(workload_asked, known.targets, built, cores, topology)
                result = of_kind.verify(target, own, workload_asked, built.folders[target.id], cores, backend)
                passed = passed and result.passed
                _show(output, result)
    if not passed:
        sys.exit(1)


def _show(output: Console, result: Verified) -> None:
    output.print(f"{result.target.id} {result.scaling}: {'passed' if result.passed else 'FAILED'}", markup=False)
    for check in result.checks:
        output.print(
            f"  {'✓' if check.passed else '✗'} {check.name}" + ("" if check.text == "holds" else f": {check.text}"),
            markup=False,
            soft_wrap=True,
        )
    if result.probed:
        _label(output, result.target, result.probed)
    if result.error:
        output.print(f"  ✗ {result.error.message}", markup=False, soft_wrap=True)
        _details(output, result.error.hint, result.error.log_tail)


def _label(output: Console, target: Target, probed: Probed) -> None:
    from httpbench.report import probe_warning

    output.print(f"  probe: {probed.label or 'not known'}", markup=False)
    if warning := probe_warning(target, probed):
        output.print(f"  warning: {warning}", markup=False, soft_wrap=True)
        output.print(f"    hint: httpbench probe {target.id} --details shows what was sent and what came", markup=False, soft_wrap=True)


def _details(output: Console, hint: str | None, log_tail: str | None) -> None:
    if log_tail:
        output.print("\n".join(f"    | {line}" for line in log_tail.splitlines()), markup=False, soft_wrap=True)
    if hint:
        output.print(f"    hint: {hint}", markup=False, soft_wrap=True)
