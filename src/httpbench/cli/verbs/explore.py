"""``httpbench explore``: write the results of many runs as one page to sort and filter."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from httpbench.cli.options.fields import Options, argument, command, option
from httpbench.cli.options.output import db_option, measured_run
from httpbench.cli.terminal import console
from httpbench.errors import SelectionError, StoreError, UsageError
from httpbench.paths import below, read_foreign

if TYPE_CHECKING:
    from httpbench.analysis.explorer import ExploredRun

RUNS_MAX = 20
DATA, REPORT, SKIPPED = "run.json.zst", "report.html", "skipped.txt"
"""Files of a folder of results, as `make results` writes them."""


class ExploreOptions(Options):
    runs: tuple[str, ...] = argument(nargs=-1, metavar="[RUN|FILE|DIR]...")
    output: Path = option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        default=Path("explorer.html"),
        metavar="FILE",
        help="File to write.",
    )
    title: str = option("--title", default="Results explorer", metavar="TEXT", help="Title of the page.")
    db: Path = db_option()


@command(ExploreOptions)
def explore(options: ExploreOptions) -> None:
    """Write many runs' results as one page to sort and filter.

    RUN is as in `report`, FILE is a JSON export, and DIR contains run.json.zst files at any depth. Without arguments, the page has the
    newest 20 runs. It works from disk, makes no requests, and its address keeps filters, order and weights.

    \b
    httpbench explore                                the newest runs
    httpbench explore results -o results.html        every run below a folder
    httpbench explore latest~1 latest release.json   some runs and an export
    """
    from httpbench.report.html import check_html

    check_html()
    if options.output.is_symlink():  # the default name is the same everywhere, so a clone could bring a link of this name
        raise UsageError(f"{options.output} is a link, and httpbench doesn't overwrite what it leads to", hint="name another file with -o")
    from httpbench.report.html.explorer import render_explorer

    found = _stored(options.db) if not options.runs else [each for word in options.runs for each in _named(word, options)]
    try:
        console.save(render_explorer(_with_unique_names(found), options.title), options.output)
    except OSError as error:
        raise StoreError(f"cannot write {options.output}: {error.strerror}", hint="name another file with --output") from None
    console.echo(str(options.output))


def _stored(db: Path) -> list[ExploredRun]:
    from httpbench.analysis.explorer import ExploredRun
    from httpbench.store import Store

    with Store(db, reading=True) as store:
        names = [line.id for line in store.runs(RUNS_MAX) if line.trials_done]
        if not names:
            raise SelectionError(f"{db} has no run with a finished trial", hint="measure something first, or name a file or folder")
        return [ExploredRun(name, *store.run(name)) for name in names]


def _named(word: str, options: ExploreOptions) -> list[ExploredRun]:
    from httpbench.analysis.explorer import ExploredRun
    from httpbench.store import Store

    path = Path(word)
    if path.is_dir():
        files = sorted(Path(entry.path) for entry in below(path) if entry.name == DATA)
        if not files:
            raise SelectionError(f"{path} contains no {DATA}", hint="name a run, a JSON export, or a folder that `make results` wrote")
        return [_read(file, file.parent.relative_to(path).as_posix(), options.output, path) for file in files]
    if path.is_file():
        return [_read(path, path.name, options.output)]
    with Store(options.db, reading=True) as store:
        run, trials = measured_run(store, word)
    return [ExploredRun(run.name or run.id, run, trials)]


def _read(file: Path, name: str, output: Path, folder: Path | None = None) -> ExploredRun:
    """Read an export that the user named or that is in ``folder``, with the list of skipped targets and the report beside it."""
    from httpbench.analysis.explorer import ExploredRun
    from httpbench.report.data.read_json import read_export

    run, trials = read_export(file, folder)
    report = file.parent / REPORT
    address = quote(os.path.relpath(report, output.parent)) if file.name == DATA and report.exists() else None
    return ExploredRun(name, run, trials, _skipped(file.parent / SKIPPED, folder or file.parent) if file.name == DATA else [], address)


def _skipped(path: Path, folder: Path) -> list[str]:
    """Return the lines of the list of skipped targets. Raises :class:`UsageError` if the list can't be read."""
    try:
        return read_foreign(path, folder).decode(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


def _with_unique_names(found: list[ExploredRun]) -> list[ExploredRun]:
    """Shorten the names of runs to their last part where it is unique, and number equal names."""
    from collections import Counter
    from dataclasses import replace

    short = [each.name.rpartition("/")[2] for each in found]
    runs, seen = Counter(short), Counter[str]()
    unique = []
    for each, last in zip(found, short, strict=True):
        name = last if runs[last] == 1 else each.name
        seen[name] += 1
        unique.append(replace(each, name=f"{name} {seen[name]}" if seen[name] > 1 else name))
    return unique
