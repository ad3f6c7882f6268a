"""The pages that quote results: the index, the README, and the page of published results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from httpbench.model import Run, Trial
from httpbench.report.markdown.parts import escape, fenced
from httpbench.text import printable
from tools.results.analysis import picture
from tools.results.folder import ANALYSIS, CHARTS
from tools.results.index import index_page, read_results
from tools.results.machine import machine_title
from tools.results.quoted import Results, with_results

INDEX, README, PUBLISHED = "README.md", "README.md", "docs/published.md"
SAMPLE = re.compile(r"^<!-- sample of results: (?P<suite>\S+) -->\n.*?^<!-- end of sample -->$", re.DOTALL | re.MULTILINE)

Render = Callable[[Run, Sequence[Trial]], str]
"""Function that renders the tables of a run as a terminal shows them."""


def write_pages(results: Path, render: Render) -> list[Path]:
    """Write the index, update the existing pages of the repository that quote results, and return the files.

    Raises :class:`UsageError` for data that can't be read, and ``OSError`` if a file can't be written.
    """
    found = read_results(results)
    repository = results.resolve().parent
    texts = {results / INDEX: index_page(results, found)}
    if (page := repository / PUBLISHED).exists():
        own = {folder.resolve(): measured for folder, measured in found.items()}
        texts[page] = with_results(page.read_text(encoding="utf-8"), page.parent, own)
    if (page := repository / README).exists():
        texts[page] = with_samples(page.read_text(encoding="utf-8"), repository, found, render)
    for path, text in texts.items():
        path.write_text(printable(text), encoding="utf-8")
    return list(texts)


def with_samples(page: str, place: Path, found: Results, render: Render) -> str:
    """Update the sample picture and table of each suite on the page. Those of a suite without a run stay unchanged."""

    def filled(match: re.Match[str]) -> str:
        folders = [folder for folder in found if folder.name == match["suite"]]
        if not folders:
            return match[0]
        newest = max(folders, key=lambda folder: found[folder][0].started_at)
        first = match[0].partition("\n")[0]
        return "\n".join([first, *_sample(newest, place, *found[newest], render), "<!-- end of sample -->"])

    return SAMPLE.sub(filled, page)


def _sample(folder: Path, place: Path, run: Run, trials: Sequence[Trial], render: Render) -> Iterator[str]:
    path = folder.resolve().relative_to(place).as_posix()
    if all((folder / name).exists() for name in CHARTS):
        light, dark = (f"{path}/{name}" for name in CHARTS)
        yield from (*picture(light, dark, f"Chart of the suite {folder.name}"), "")
    yield f"{run.started_at[:10]}, {escape(machine_title(run.environment))}: [analysis]({path}/{ANALYSIS})."
    yield from ("", *fenced(render(run, trials)))
