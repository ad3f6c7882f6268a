"""The pages that quote results: the index and the page of published results."""

from __future__ import annotations

from pathlib import Path

from httpbench.text import printable
from tools.results.index import index_page, read_results
from tools.results.quoted import with_results

INDEX, PUBLISHED = "README.md", "docs/published.md"


def write_pages(results: Path) -> list[Path]:
    """Write the index, update the page of published results if it exists, and return the files.

    Raises :class:`UsageError` for data that can't be read, and ``OSError`` if a file can't be written.
    """
    found = read_results(results)
    repository = results.resolve().parent
    texts = {results / INDEX: index_page(results, found)}
    if (page := repository / PUBLISHED).exists():
        own = {folder.resolve(): measured for folder, measured in found.items()}
        texts[page] = with_results(page.read_text(encoding="utf-8"), page.parent, own)
    for path, text in texts.items():
        path.write_text(printable(text), encoding="utf-8")
    return list(texts)
