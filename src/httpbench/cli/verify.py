"""``httpbench verify``: build, start, check the contract, stop."""

from __future__ import annotations

import sys

import click
from rich.console import Console

from httpbench import host
from httpbench.cli import console, progress
from httpbench.cli.options import Selection, selection
from httpbench.model import Kind, Scaling
from httpbench.run import KINDS, Verified, prepare, scaling_of


@click.command()
@selection
@click.option("--scaling", type=click.Choice(["single", "multi"]), multiple=True, help="[default: both, where the row has both]")
@click.option("--workload", metavar="NAME", help="What is asked. [default: plaintext; clients: client-small-1000]")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Builds at the same time.")
def verify(selection: Selection, scaling: tuple[str, ...], workload: str | None, jobs: int) -> None:
    """Build rows, start them, check each clause of the contract, and stop them. Exit code 1 when one does not keep it.

    Without rows: all servers.

    \b
    httpbench verify c/epoll/level           one row, in each way in which it scales
    httpbench verify --targets ~/mine mine   a target of your own, before it is measured
    """
    known = selection.catalog()
    asked = {kind: known.workload(workload or of_kind.workload) for kind, of_kind in KINDS.items()}
    targets = selection.of(known, kind=None if selection.words else Kind.SERVER)
    output, errors = console.stdout(), console.stderr()
    with progress.watcher(errors, quiet=False) as watcher:
        built = prepare(targets, watcher, jobs)
    topology = host.read_topology()
    passed = not built.errors
    for target in targets:
        if target.id in built.errors:
            error = built.errors[target.id]
            output.print(f"{target.id}: not verified: {error.message}", markup=False, soft_wrap=True)
            _details(output, error.hint, error.log_tail)
            continue
        if target.kind not in KINDS:
            output.print(f"{target.id}: built; not verified, as it is a {target.kind}", markup=False)
            continue
        for word in scaling or ("single", "multi"):
            own = scaling_of(target, Scaling(word))
            if own is not None:
                result = KINDS[target.kind].verify(target, own, asked[target.kind], built.folders[target.id], host.partition(topology, own))
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
    if result.error:
        output.print(f"  ✗ {result.error.message}", markup=False, soft_wrap=True)
        _details(output, result.error.hint, result.error.log_tail)


def _details(output: Console, hint: str | None, log_tail: str | None) -> None:
    if log_tail:
        output.print("\n".join(f"    | {line}" for line in log_tail.splitlines()), markup=False, soft_wrap=True)
    if hint:
        output.print(f"    hint: {hint}", markup=False, soft_wrap=True)
