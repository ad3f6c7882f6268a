"""Measure suites for the repository, write a folder for each, and update the pages that quote the results.

Run it with ``make results`` or ``python -m tools.results.measure [SUITE]…``.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

import click

from httpbench import catalog, host
from httpbench.cli.exit_codes import ExitCode, of_error
from httpbench.cli.options.fields import Options, argument, command, option
from httpbench.cli.terminal import console
from httpbench.errors import HttpbenchError, SelectionError
from httpbench.report.html import check_html
from tools.results.folder import DATA, rewrite, write_folder
from tools.results.hand_written import stale_pages
from tools.results.own_paths import without_own_paths
from tools.results.pages import PUBLISHED, write_pages

WITH_SEVEN = "golang/net-http rust/actix-web python/starlette"
"""Targets that support all of TechEmpower's tests."""

SHORTER = {
    "app-servers": "-d 5s",
    "containers": "-d 5s",
    "frameworks": "-d 5s",
    "http-proxies": "-d 1s",
    "http-proxies-failover": "--rounds 1",
    "http-proxies-peak": "-d 1s",
    "http-servers": "-d 1s",
    "http-servers-pipelined": "-d 3s -c 64 --scaling single",
    "startup": "--rounds 8 -d 3s",
    "tcp-proxies": "--step 1s -d 3s --warmup 2s",
    "techempower": f"{WITH_SEVEN} -d 3s --warmup 2s -c 128",
    "techempower-pipelined": f"{WITH_SEVEN} -d 3s --warmup 2s -c 256,4096",
    "techempower-queries": f"{WITH_SEVEN} -d 3s --warmup 2s --workload query-20 --workload update-20",
    "tls": "-d 2s",
}
"""Options that shorten each of the long suites, so that all suites together take less than two hours."""

DISTURBING = ("busy-processes", "steal")
"""Findings of ``doctor`` that show that the machine is busy."""

ESTIMATE = re.compile(r"^(\d.*trials?: .*|up to .*)$", re.MULTILINE)
"""Pattern for the lines that state the duration in the output of ``bench --dry-run``."""

MADE = (ExitCode.OK, ExitCode.FAILED)
"""Exit codes of ``bench`` if it ran all trials, regardless of their results."""


class ResultsOptions(Options):
    suites: tuple[str, ...] = argument(nargs=-1, metavar="[SUITE]...")
    results: Path = option("--results", type=click.Path(file_okay=False, path_type=Path), default="results", help="Folder of the results.")
    options: str = option("--options", default="", help="Further options of bench, such as '--rounds 5 -d 3s'; they override ours.")
    dry_run: bool = option("--dry-run", is_flag=True, help="Show what would be measured and how long it takes, and exit.")
    pages_only: bool = option("--pages-only", is_flag=True, help="Measure nothing: write the pages again from existing data.")
    even_if_busy: bool = option("--even-if-busy", is_flag=True, help="Measure even if other programs use the CPUs.")


@dataclass(frozen=True, slots=True)
class Planned:
    """A suite with targets that can run on this machine."""

    suite: str
    argv: tuple[str, ...]
    skipped: tuple[str, ...]
    """Targets that are not measured, each with its reason."""


@command(ResultsOptions)
def results(options: ResultsOptions) -> ExitCode:
    """Measure suites on this machine (by default all of them), and write RESULTS/MACHINE/SUITE for each."""
    check_html()
    if options.pages_only:
        return _rewrite(options)
    known = catalog.load()
    suites = [known.suite(name).name for name in options.suites or known.suites]
    planned = list(_planned(suites, shlex.split(options.options)))
    if not planned:
        raise SelectionError("no suite can run here", hint="the lines above say what each requires")
    if options.dry_run:
        return ExitCode.OK
    if not options.even_if_busy:
        _require_quiet()
    codes = {}
    for plan in planned:
        codes[plan.suite] = _measure(plan, options.results)
        if codes[plan.suite] == ExitCode.INTERRUPTED:
            break
    _write_index(options.results)
    stale = _report_stale(options.results)
    if lost := [suite for suite, code in codes.items() if code not in MADE]:
        console.error(f"not measured: {', '.join(lost)}", "the lines above say why")
    if ExitCode.INTERRUPTED in codes.values():
        return ExitCode.INTERRUPTED
    return ExitCode.FAILED if lost or stale else ExitCode.OK


def _rewrite(options: ResultsOptions) -> ExitCode:
    folders = [
        path.parent for path in sorted(options.results.glob(f"*/*/{DATA}")) if path.parent.name in options.suites or not options.suites
    ]
    for folder in folders:
        rewrite(folder)
        console.echo(f"written: {folder}")
    _write_index(options.results)
    return ExitCode.FAILED if _report_stale(options.results) else ExitCode.OK


def _report_stale(results: Path) -> bool:
    """Report hand-written text that quotes figures of an earlier run. Return whether any was found."""
    page = results.resolve().parent / PUBLISHED
    published = page.read_text(encoding="utf-8") if page.exists() else ""
    found = list(stale_pages([path.parent for path in sorted(results.glob(f"*/*/{DATA}"))], published))
    for sentence in found:
        console.error(sentence, "write that part again for the new run")
    return bool(found)


def _write_index(results: Path) -> None:
    for path in write_pages(results):
        console.echo(f"written: {path}")


def _planned(suites: Sequence[str], further: Sequence[str]) -> Iterator[Planned]:
    """Print how long each suite takes or why it can't run on this machine, and yield those that can run."""
    for suite in suites:
        argv = ("bench", "--suite", suite, "--skip-missing", *shlex.split(SHORTER.get(suite, "")), *further)
        asked = subprocess.run(_python(*argv, "--dry-run"), capture_output=True, text=True, check=False)
        lines = asked.stderr.splitlines()
        skipped = tuple(line.removeprefix("skipped ") for line in lines if line.startswith("skipped "))
        console.echo(f"{suite}: {shlex.join(('httpbench', *argv))}")
        for line in [*ESTIMATE.findall(asked.stdout), *lines]:
            console.echo(f"  {line}")
        if asked.returncode == ExitCode.OK:
            yield Planned(suite, argv, skipped)


def _require_quiet() -> None:
    """Raise :class:`SelectionError` if other programs are using the CPUs.

    A disturbed trial is repeated only a few times, so results would be missing on a busy machine.
    """
    found = [finding for finding in host.examine() if finding.name in DISTURBING and finding.severity == "warning"]
    if found:
        seen = "; ".join(finding.what for finding in found)
        raise SelectionError(f"this machine is not quiet: {seen}", hint="stop that, or wait; --even-if-busy measures anyway")


def _measure(plan: Planned, folder: Path) -> int:
    """Run a suite, write its folder, and return the exit code of the run. A run that ended early leaves the folder unchanged."""
    with TemporaryFile() as export:
        code = _ended(subprocess.Popen(_python(*plan.argv, "--export-json", "-"), stdout=export))
        export.seek(0)
        made = export.read()
    if code not in MADE:
        return code
    if not made:
        return ExitCode.USAGE
    published = without_own_paths(made, {Path.cwd(): ".", Path.home(): "~"})
    console.echo(f"written: {write_folder(published, folder, plan.suite, plan.skipped)}")
    return code


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Wait for a command and return its exit code. Ctrl-C also reaches the command, which then stores its trials and ends."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def _python(*words: str) -> list[str]:
    return [sys.executable, "-m", "httpbench", *words]


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        code = results.main(prog_name="python -m tools.results.measure", standalone_mode=False)
    except HttpbenchError as error:
        console.error(error.message, error.hint)
        code = of_error(error)
    except click.ClickException as error:
        console.error(error.format_message())
        code = ExitCode.USAGE
    sys.exit(code)


if __name__ == "__main__":
    main()
