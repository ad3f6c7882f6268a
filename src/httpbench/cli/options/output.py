"""Options for results: the database, the columns of tables, and the export files."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from httpbench.cli.options.fields import Options, group, option
from httpbench.cli.options.params import COLUMNS
from httpbench.cli.terminal import console
from httpbench.errors import SelectionError, StoreError, UsageError
from httpbench.paths import default_database

if TYPE_CHECKING:
    from rich.console import Console

    from httpbench.model import Run, Trial
    from httpbench.report.words.columns import View
    from httpbench.store import Store

FILE = click.Path(dir_okay=False)


db_option = partial(
    option,
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    default=default_database,
    default_text="httpbench.db in the user's data folder",
    metavar="FILE",
    help="Results database.",
)
charts_option = partial(
    option,
    "--charts",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write charts to DIR (SVG and PNG, light and dark).",
)
json_option = partial(option, "--json", is_flag=True, help="Print JSON.")


def export_option(name: str, what: str) -> Any:
    return option(f"--export-{name}", type=FILE, metavar="FILE", help=f"Write {what} to FILE, or - for standard output.")


def run_named(store: Store, word: str) -> tuple[Run, list[Trial]]:
    """Return the run that ``word`` names, with its trials. If ``word`` is the path of a file, read the file as a JSON export.

    Raise :class:`SelectionError` if there is no such run.
    """
    from httpbench.report.data.read_json import read_export

    return read_export(Path(word)) if Path(word).is_file() else store.run(word)


def measured_run(store: Store, word: str) -> tuple[Run, list[Trial]]:
    """Return the run that ``word`` names, with its trials. Raise :class:`SelectionError` if it has none."""
    run, trials = run_named(store, word)
    if not trials:
        raise SelectionError(f"run {run.id} has no finished trial", hint="`httpbench runs` lists the others")
    return run, trials


def source_of(run: str, db: Path) -> str:
    """Return the words that name a run, or the file of an export, on the command line of ``report``."""
    return shlex.join([run] if db == default_database() or Path(run).is_file() else [run, "--db", str(db)])


class TableOptions(Options):
    """Options for the columns of tables, and for the explanations below the tables."""

    wide: bool = option("--wide", is_flag=True, help="Show every column of the tables.")
    columns: tuple[str, ...] | None = option(
        "--columns",
        type=COLUMNS,
        metavar="NAME[,NAME…]",
        default_text="as many as fit in 80 characters",
        help="Columns to show, such as target,rps,p99. docs/reports.md lists the names.",
    )
    explain: bool = option("--explain", is_flag=True, help="Explain columns, verdicts and marks below the tables.")

    @property
    def are_chosen(self) -> bool:
        """Whether the user chose the columns."""
        return self.wide or bool(self.columns)

    def view(self, known: Sequence[str]) -> View:
        """Return the view that the user chose. Raise :class:`UsageError` for a column that is not in ``known``."""
        from httpbench.report.words.columns import View

        if self.wide and self.columns:
            raise UsageError("--wide and --columns cannot be combined", hint="use one of them")
        wrong = [name for name in self.columns or () if name not in known]
        if wrong:
            raise UsageError(f"this table has no column {', '.join(wrong)}", hint=f"columns: {', '.join(known)}")
        return View(wide=self.wide, names=self.columns or (), explain=self.explain)


@dataclass(frozen=True, slots=True)
class Exports:
    """The export files of a verb. Verbs call :meth:`check` before the first trial, so that a bad path doesn't waste a measurement."""

    paths: dict[str, str]
    """Paths by format name; ``-`` is standard output."""

    def and_printed(self, name: str | None) -> Exports:
        """Also export the named format to standard output. Raise :class:`UsageError` if another option already exports it."""
        if name is None:
            return self
        if name in self.paths:
            raise UsageError(f"--format {name} and --export-{name} request the same format", hint="use one of them")
        return Exports({**self.paths, name: "-"})

    @property
    def tables(self) -> Console:
        """The console for tables: standard output, or standard error if an export goes to standard output."""
        return console.stderr() if "-" in self.paths.values() else console.stdout()

    def check(self) -> None:
        """Raise :class:`UsageError` if a file cannot be written, two exports name the same file, or a package is missing."""
        if "html" in self.paths:
            from httpbench.report.html import check_html

            check_html()
        named = list(self.paths.values())
        for path in named:
            if named.count(path) > 1:
                raise UsageError(f"two exports are written to {'standard output' if path == '-' else path}", hint="name two files")
        for path in set(named) - {"-"}:
            try:
                with Path(path).open("a"):
                    pass
            except OSError as error:
                hint = "name another file, or - for standard output"
                raise UsageError(f"cannot write the export {path}: {error.strerror}", hint=hint) from None

    def write(self, run: Run, trials: Sequence[Trial]) -> None:
        """Export a run to all files, then raise :class:`StoreError` if some could not be written."""
        from httpbench.report import CLIENT_FORMATS, FORMATS

        self.put({name: {**FORMATS, **CLIENT_FORMATS}[name](run, trials) for name in self.paths})

    def put(self, texts: Mapping[str, str]) -> None:
        """Write the text of each format to its file. Raise :class:`StoreError` if some files could not be written."""
        problems = []
        for name, path in self.paths.items():
            if path == "-":
                console.write(texts[name])
                continue
            try:
                console.save(texts[name], Path(path))
            except OSError as error:
                problems.append(f"cannot write the export {path}: {error.strerror}")
        if problems:
            raise StoreError("\n".join(problems), hint="`httpbench report` exports the stored run again")


class FileOptions(Options):
    """Options for export files. For example, the field ``export_csv`` contains the path for the format ``csv``."""

    @property
    def files(self) -> Exports:
        """The files that the user named."""
        return Exports({name.removeprefix("export_"): path for name, path in dataclasses.asdict(self).items() if path is not None})


class ExportOptions(FileOptions):
    """Options for the export files of verbs that measure or show servers."""

    export_json: str | None = export_option("json", "everything, with histograms,")
    export_csv: str | None = export_option("csv", "one line per trial")
    export_markdown: str | None = export_option("markdown", "the table as Markdown")
    export_html: str | None = export_option("html", "the report, with charts, as one HTML file")
    export_autocannon: str | None = export_option(
        "autocannon", "latencies, requests and bytes per second, in the format of autocannon's tables,"
    )
    export_junit: str | None = export_option("junit", "rows and gates as JUnit XML")
    export_openmetrics: str | None = export_option("openmetrics", "the results as OpenMetrics text")


class ClientExportOptions(ExportOptions):
    """Options for the export files of verbs that can also measure or show clients."""

    export_hyperfine: str | None = export_option("hyperfine", "the times of clients as hyperfine's JSON")


class StoreOptions(Options):
    """Options of verbs that measure: waiting for cores, progress, and the database."""

    no_wait: bool = option("--no-wait", is_flag=True, help="If another run uses the same cores, exit instead of waiting for it.")
    quiet: bool = option("-q", "--quiet", is_flag=True, help="Show no progress.")
    db: Path = db_option()


class RecordOptions(StoreOptions):
    """Options of verbs that measure and show a run."""

    tags: tuple[str, ...] = option("--tag", multiple=True, metavar="TAG", help="Tag of the run, for the search in `serve`.")
    tables: TableOptions = group(TableOptions)
