"""``httpbench report``: show a stored run again, in any format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from httpbench.cli.options.fields import Options, argument, command, group, option
from httpbench.cli.options.output import ClientExportOptions, TableOptions, charts_option, db_option, measured_run, source_of
from httpbench.cli.options.params import FORMATS
from httpbench.cli.terminal import console


class ReportOptions(Options):
    run: str = argument(default="latest")
    printed: str | None = option(
        "--format", type=click.Choice(FORMATS), default_text="tables", help="Print this format instead of the tables."
    )
    evidence: bool = option("--evidence", is_flag=True, help="Show the numbers behind each verdict, one line per trial.")
    charts: Path | None = charts_option()
    db: Path = db_option()
    tables: TableOptions = group(TableOptions)
    exports: ClientExportOptions = group(ClientExportOptions)


@command(ReportOptions)
def report(options: ReportOptions) -> None:
    """Show a stored run again.

    RUN is an id or the beginning of one, latest, latest~1, the name of a run, a git commit, or a JSON export, compressed or not.

    \b
    httpbench report                              the last run
    httpbench report 20260102 --export-csv x.csv  a run of that day, as CSV
    httpbench report run.json.zst                 a JSON export
    httpbench report latest --format autocannon   autocannon's tables
    httpbench report latest --charts charts       charts
    httpbench report latest --explain             every note
    httpbench report latest --evidence            the reasons for the verdicts
    """
    files = options.exports.files.and_printed(options.printed)
    files.check()
    from httpbench.report.terminal.evidence import render_evidence
    from httpbench.report.terminal.run import render_terminal
    from httpbench.report.words.columns import names as column_names
    from httpbench.report.words.curves import NAMES as SEARCH_COLUMNS
    from httpbench.store import Store

    with Store(options.db, reading=True) as store:
        run, trials = measured_run(store, options.run)
    view = options.tables.view(SEARCH_COLUMNS if run.search else column_names(run.table))
    view = replace(view, source=source_of(options.run if Path(options.run).is_file() else run.id, options.db))
    output = files.tables
    if options.evidence:
        output.print(render_evidence(run, trials, width=output.width))
    elif options.charts is not None:
        from httpbench.report.charts import write_charts

        for path in write_charts(run, trials, options.charts):
            console.echo(str(path), err=output.stderr)
    elif not files.paths:
        output.print(render_terminal(run, trials, width=output.width, view=view))
    files.write(run, trials)
