"""Write ``docs/audits.md``: audits of published results.

    python -m tools.audits FOLDER

``FOLDER`` contains the archives under the paths of ``ARCHIVES``. They aren't part of this repository; the page says where they come from.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from httpbench import catalog
from httpbench.analysis.audit import audit
from httpbench.catalog import root
from httpbench.report.markdown.audit import render_audit_markdown

TABLES_MAX = 6

INTRO = """\
# Audits of published results

This page lists figures in four published results that can't be true, or mean less than they say.

    httpbench runs --import web-frameworks:data.json --name february
    httpbench audit february

[reports.md](reports.md#audit) has the rules. They find nothing in [our own results](../results/README.md). A finding concerns the
figures, not the targets: it says that a figure isn't what its column says. To write this page again, download the files named below and run
`python -m tools.audits FOLDER`.

A rule is only as good as its data. The files state neither repeated measurements nor intervals, and most don't state what limited a row.
An absence of findings is no proof.
"""


@dataclass(frozen=True, slots=True)
class Archive:
    """Published results, and where they come from."""

    title: str
    project: str
    path: str
    """Path of the file or folder below the folder of archives."""
    source: str
    """Link to the file or folder."""
    date: str
    """When the results were published, as a sentence."""
    remarks: tuple[str, ...] = ()
    """What else is known of the findings, as Markdown sentences."""


GITHUB = "https://github.com"
TFB_STATUS = f"{GITHUB}/TechEmpower/tfb-status/blob/08d61d9b3240d85f45c9ef5445eaa913b492ca96/src/test/resources/test_managed_files/results"

ARCHIVES = (
    Archive(
        "the-benchmarker/web-frameworks, February 2026",
        "web-frameworks",
        "web-frameworks-2026-02-11.json",
        f"[data.json]({GITHUB}/the-benchmarker/web-frameworks/blob/503390800c0cfa469370c808f9457a2d55da74c0/data.json)",
        "Updated on 2026-02-11.",
        (
            "Each figure is the average over `GET /`, `GET /user/0` and `POST /user`, and each request had a connection of its own.",
            f"Readers [reported]({GITHUB}/the-benchmarker/web-frameworks/issues/9775) that in a later run, of 2026-09-11, 174 of 380 "
            "frameworks were between 96,000 and 97,400 requests/s. We don't have that file. In a simulated table of this shape, the rule "
            '"rows at a common limit" finds these 174 rows.',
        ),
    ),
    Archive(
        "the-benchmarker/web-frameworks, July 2025",
        "web-frameworks",
        "web-frameworks-2025-07-23.json",
        f"[data.json]({GITHUB}/the-benchmarker/web-frameworks/blob/9a263e8d762e2a1158ed0880f17ac54ce886d85d/data.json)",
        "Updated on 2025-07-23, when the project still used wrk.",
    ),
    Archive(
        "HttpArena, April 2026",
        "httparena",
        "HttpArena",
        f"[site/data]({GITHUB}/MDA2AV/HttpArena/tree/28606bafd5526c28b8438f630d7dca73b2869e28/site/data)",
        "As of 2026-04-29.",
        (
            "The scripts confirm the equal p99: `scripts/lib/tools/wrk.sh` and `h2load.sh` store the mean as the p99.",
            "The tests `api-4`, `api-16`, `async-db` and `crud` have the responses of 10 to 15 s, so they may have lasted that long.",
        ),
    ),
    Archive(
        "TechEmpower, December 2019",
        "techempower",
        "results.2019-12-11-13-21-02-404.json",
        f"[results.json]({TFB_STATUS}/results.2019-12-11-13-21-02-404.json)",
        "A continuous run that began on 2019-12-11, from the tests of tfb-status. It isn't an official round.",
    ),
)


def page(folder: Path) -> str:
    """Return the page. Raises :class:`CatalogError` if an archive is missing or invalid."""
    return "\n".join(_parts(folder))


def _parts(folder: Path) -> Iterator[str]:
    yield INTRO
    workloads = catalog.load().workloads
    for archive in ARCHIVES:
        run, trials = catalog.read_published(archive.project, folder / archive.path, workloads, ("httpbench",), None)
        yield f"## {archive.title}\n"
        yield f"Source: {archive.source}.\n{archive.date} Machine: {run.environment.cpu_model}.\n"
        if archive.remarks:
            yield "".join(f"{_wrapped(f'- {remark}')}\n" for remark in archive.remarks)
        # The heading names the run by an id that readers don't know.
        found = render_audit_markdown(audit(run, trials), level=2, tables_max=TABLES_MAX).partition("\n\n")[2]
        yield "".join(f"{line if line.startswith('|') else _wrapped(line)}\n" for line in found.splitlines())


def _wrapped(line: str) -> str:
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(line, 140, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    (root() / "docs/audits.md").write_text(page(Path(sys.argv[1])), encoding="utf-8")
