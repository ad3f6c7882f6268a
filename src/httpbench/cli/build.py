"""``httpbench build``: build rows ahead of their first use."""

from __future__ import annotations

import sys

import click

from httpbench.cli import console
from httpbench.cli.options import Selection, selection
from httpbench.errors import RequirementError


@click.command()
@selection
@click.option("--skip-missing", is_flag=True, help="Leave out rows whose toolchain is missing, and name them.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Builds at the same time.")
def build(selection: Selection, skip_missing: bool, jobs: int) -> None:
    """Build rows, of all kinds, that are not built yet. Exit code 1 when one cannot be.

    What is built lies in the user's cache and is built again only when its sources have changed. Without rows: all.

    \b
    httpbench build rust --jobs 4   all rows of a language
    """
    from httpbench.cli import progress
    from httpbench.run import prepare

    targets = selection.of(selection.catalog())
    output, errors = console.stdout(), console.stderr()
    with progress.watcher(errors, quiet=False) as watcher:
        built = prepare(targets, watcher, jobs)
    failed = 0
    for target in targets:
        error = built.errors.get(target.id)
        if error is None:
            continue
        left_out = skip_missing and isinstance(error, RequirementError)
        failed += not left_out
        output.print(f"{target.id}: {'left out' if left_out else 'not built'}: {error.message}", markup=False, soft_wrap=True)
        if error.hint:
            output.print(f"    hint: {error.hint}", markup=False, soft_wrap=True)
    output.print(f"{len(built.folders)} of {len(targets)} rows are built")
    if failed:
        sys.exit(1)
