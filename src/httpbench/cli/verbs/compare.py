"""``httpbench compare``: changes from one run to another, and gates for CI pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, argument, command, group, option
from httpbench.cli.options.output import FileOptions, TableOptions, db_option, export_option, run_named
from httpbench.cli.options.params import GATES
from httpbench.cli.options.shared import GateOptions
from httpbench.cli.terminal import console
from httpbench.errors import SelectionError, UsageError

if TYPE_CHECKING:
    from httpbench.model import Run, Trial
    from httpbench.store import Store


class CompareExportOptions(FileOptions):
    export_markdown: str | None = export_option("markdown", "Markdown for a pull request")
    export_json: str | None = export_option("json", "JSON")
    export_junit: str | None = export_option("junit", "gates as JUnit XML")
    export_html: str | None = export_option("html", "the changes, with charts, as one HTML file")


class CompareOptions(Options):
    base: str = argument(default="latest~1")
    head: str = argument(default="latest")
    gates: GateOptions = group(GateOptions)
    across_environments: bool = option(
        "--across-environments", is_flag=True, help="Compare runs from different environments, with a warning."
    )
    exports: CompareExportOptions = group(CompareExportOptions)
    db: Path = db_option()
    tables: TableOptions = group(TableOptions)


@command(CompareOptions)
def compare(options: CompareOptions) -> ExitCode | None:
    """Show what changed from one run to another.

    BASE and HEAD each specify a run by its id or the beginning of its id, latest, latest~1, the run's name, a git commit, or a JSON export.
    A gate is breached (exit code 3) only if the whole 95% interval lies beyond its bound, and inconclusive if the interval contains the
    bound. A gate is unknown (exit code 1) if rounds of HEAD failed or are invalid, or if HEAD lacks a target. If BASE was published by
    another project, a table compares the order of the targets in both.

    \b
    httpbench compare                                         the last two runs
    httpbench compare main.json latest --fail-if 'rps<-3%'    a gate
    httpbench compare v1.2 HEAD --export-markdown comment.md  two commits
    """
    files, gates = options.exports.files, options.gates.all
    if "junit" in files.paths and not gates:
        raise UsageError("--export-junit exports gates, but none is given", hint="add a gate, such as --fail-if 'rps<-3%'")
    options.gates.check()
    from httpbench.analysis.changes import changes
    from httpbench.report import CHANGE_FORMATS
    from httpbench.report.terminal.changes import NAMES as CHANGE_COLUMNS
    from httpbench.report.terminal.changes import render_changes
    from httpbench.report.terminal.published import render_beside
    from httpbench.report.words.changes import mismatches_text
    from httpbench.store import Store

    view = options.tables.view(CHANGE_COLUMNS)
    files.check()
    further = [name for name in view.names if name in GATES]
    with Store(options.db, reading=True) as store:
        base, head = _run(store, options.base), _run(store, options.head)
    if base[0].published:
        if files.paths or gates:
            raise UsageError(f"{options.base} was published by {base[0].published}, so it has no gates or exports", hint="remove them")
        output = console.stdout()
        output.print(render_beside(base, head, output.width))
        return None
    found = changes(base, head, gates, further, fails_if_inconclusive=options.gates.fail_if_inconclusive)
    if found.environment and not options.across_environments:
        raise UsageError(
            f"{options.base} and {options.head} were measured in different environments: {mismatches_text(found.environment)}",
            hint="measure both with one `httpbench run`; to compare anyway: --across-environments",
        )
    output = files.tables
    output.print(render_changes(found, width=output.width, view=view))
    files.put({name: CHANGE_FORMATS[name](found) for name in files.paths})
    if found.breached:
        return ExitCode.BREACHED
    return ExitCode.FAILED if gates and (found.undecided or not found.cells) else None


def _run(store: Store, word: str) -> tuple[Run, list[Trial]]:
    """Return the run that ``word`` names, with its trials. Raise :class:`SelectionError` if there is no such run."""
    from httpbench.store import WAYS

    try:
        return run_named(store, word)
    except SelectionError as error:
        commit = _commit(word)
        if commit is None:
            raise SelectionError(error.message, hint=f"a run is {WAYS}, or a JSON export; `httpbench runs` lists them") from None
    try:
        return store.run(commit)
    except SelectionError:
        message = f"no run of commit {commit[:12]} ({word}) in {store.path}"
        raise SelectionError(message, hint="runs from a modified working tree do not match a commit") from None


def _commit(word: str) -> str | None:
    """Return the id of the commit that ``word`` names in the git repository of the working directory, or ``None``."""
    if word.startswith("-"):
        return None
    from httpbench import host

    output = host.git(Path.cwd(), "rev-parse", "--verify", "--quiet", f"{word}^{{commit}}")
    return output.stdout.strip() if output and output.returncode == 0 else None
