"""``httpbench report``: a stored run again, in any format."""

from __future__ import annotations

from pathlib import Path

import click

from httpbench.cli import console
from httpbench.cli.exports import exports
from httpbench.cli.options import database, export, export_hyperfine
from httpbench.errors import SelectionError


@click.command()
@click.argument("run", default="latest")
@click.option("--evidence", is_flag=True, help="Show the figures behind each verdict, a line for each trial.")
@click.option(
    "--charts",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Draw charts into a folder: SVG and PNG, light and dark.",
)
@database
@export
@export_hyperfine
def report(run: str, evidence: bool, charts: Path | None, db: Path, **asked: str | None) -> None:
    """Show a stored run again. RUN is an id or the beginning of one, latest, latest~1, a name, or a git commit.

    \b
    httpbench report                              the last run
    httpbench report 20260102 --export-csv x.csv  that of a day, a line for each trial
    httpbench report latest --charts charts       drawn, of clients and proxies
    httpbench report latest --evidence            what the verdicts of the last run were drawn from
    """
    files = exports(*(asked[f"export_{name}"] for name in ("json", "csv", "markdown", "hyperfine")))
    files.check()
    from httpbench.report import render_evidence, render_terminal
    from httpbench.store import Store

    with Store(db, reading=True) as store:
        found, trials = store.run(run)
    if not trials:
        raise SelectionError(f"run {found.id} has no finished trial")
    output = console.stderr() if files.to_stdout else console.stdout()
    if evidence:
        output.print(render_evidence(found, trials))
    elif charts is not None:
        from httpbench.report.charts import write_charts

        for path in write_charts(found, trials, charts):
            output.print(path, markup=False, highlight=False, soft_wrap=True)
    elif not files.paths:
        output.print(render_terminal(found, trials, width=output.width))
    files.write(found, trials)
