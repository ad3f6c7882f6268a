"""``httpbench compare``: what changed from one run to another, and gates for pipelines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from httpbench.cli import console
from httpbench.cli.exports import exports
from httpbench.cli.options import database
from httpbench.cli.params import GATE
from httpbench.errors import SelectionError, UsageError

if TYPE_CHECKING:
    from httpbench.model import Run, Trial
    from httpbench.stats.gates import Gate
    from httpbench.store import Store

EXIT_UNKNOWN, EXIT_BREACHED = 1, 3


@click.command()
@click.argument("base", default="latest~1")
@click.argument("head", default="latest")
@click.option("--fail-if", "gates", type=GATE, multiple=True, help="Exit with 3 where a figure changed by more, such as 'rps<-3%'.")
@click.option("--across-environments", is_flag=True, help="Compare runs of different machines or kernels all the same, under a banner.")
@click.option(
    "--export-markdown", type=click.Path(dir_okay=False), metavar="FILE", help="Write it for a pull request; - is standard output."
)
@click.option("--export-json", type=click.Path(dir_okay=False), metavar="FILE", help="Write it as JSON; - is standard output.")
@database
def compare(
    base: str,
    head: str,
    gates: tuple[Gate, ...],
    across_environments: bool,
    export_markdown: str | None,
    export_json: str | None,
    db: Path,
) -> None:
    """Compare two runs: what changed from BASE to HEAD in each row, and what the rounds can tell of it.

    A run is an id or the beginning of one, latest, latest~1, the name that it was given, a git commit, or a JSON export. A gate is breached
    only where the whole 95 % interval lies beyond its bound. Exit codes: 3 a gate is breached, 1 a gate could not be judged.

    \b
    httpbench compare                                           the last run with the one before
    httpbench compare main.json latest --fail-if 'rps<-3%'      with an export, as a gate
    httpbench compare v1.2 HEAD --export-markdown comment.md    two commits, for a pull request
    """
    files = exports(export_json, None, export_markdown)
    files.check()
    from httpbench.report import changes, render_changes, render_changes_json, render_changes_markdown
    from httpbench.store import Store

    with Store(db, reading=True) as store:
        found = changes(_run(store, base), _run(store, head), gates)
    if found.environment and not across_environments:
        raise UsageError(
            f"{base} and {head} were measured in different environments: {'; '.join(found.environment)}",
            hint="measure both in one run, with httpbench run; --across-environments compares them all the same",
        )
    output = console.stderr() if files.to_stdout else console.stdout()
    output.print(render_changes(found))
    files.put({"json": render_changes_json(found), "markdown": render_changes_markdown(found)})
    if found.breached:
        sys.exit(EXIT_BREACHED)
    if gates and (found.unknown or not found.cells):
        sys.exit(EXIT_UNKNOWN)


def _run(store: Store, word: str) -> tuple[Run, list[Trial]]:
    from httpbench.report import read_export
    from httpbench.store import WAYS

    if Path(word).is_file():
        return read_export(Path(word))
    try:
        return store.run(word)
    except SelectionError as error:
        commit = _commit(word)
        if commit is None:
            raise SelectionError(error.message, hint=f"a run is {WAYS}, or a JSON export; httpbench runs lists them") from None
    try:
        return store.run(commit)
    except SelectionError:
        message = f"«{word}» is commit {commit[:12]}, and no run of it is in {store.path}"
        raise SelectionError(message, hint="runs of a folder with changes do not count as its commit's") from None


def _commit(word: str) -> str | None:
    """What git takes a word for, in the folder that we are in."""
    if word.startswith("-"):
        return None
    from httpbench import host

    answer = host.capture(("git", "rev-parse", "--verify", "--quiet", f"{word}^{{commit}}"))
    return answer.stdout.strip() if answer and answer.code == 0 else None
