"""``httpbench audit``: figures that can't be true, or mean less than they say."""

from __future__ import annotations

from pathlib import Path

from httpbench.cli.options.fields import Options, argument, command, group
from httpbench.cli.options.output import FileOptions, db_option, export_option, measured_run


class AuditExportOptions(FileOptions):
    export_json: str | None = export_option("json", "JSON")
    export_markdown: str | None = export_option("markdown", "Markdown")
    export_html: str | None = export_option("html", "one HTML file")


class AuditOptions(Options):
    run: str = argument(default="latest")
    db: Path = db_option()
    exports: AuditExportOptions = group(AuditExportOptions)


@command(AuditOptions)
def audit(options: AuditOptions) -> None:
    """Find figures that can't be true, or mean less than they say.

    RUN is an id or the beginning of one, latest, latest~1, the name of a run, a git commit, or a JSON export. Published results become a
    run with `httpbench runs --import`. Each finding has its rule, its rows and their figures.

    \b
    httpbench runs --import httparena:HttpArena --name arena
    httpbench audit arena                              the findings
    httpbench audit arena --export-html audit.html     every table, as a page
    """
    files = options.exports.files
    files.check()
    from httpbench.analysis.audit import audit
    from httpbench.report import AUDIT_FORMATS
    from httpbench.report.terminal.audit import render_audit
    from httpbench.store import Store

    with Store(options.db, reading=True) as store:
        run, trials = measured_run(store, options.run)
    found = audit(run, trials)
    output = files.tables
    if not files.paths:
        output.print(render_audit(found, width=output.width))
    files.put({name: AUDIT_FORMATS[name](found) for name in files.paths})
