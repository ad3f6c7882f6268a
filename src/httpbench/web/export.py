"""The dashboard as static files, which work with any web server or without one.

The export follows the links of each page, starting with the list of runs, so that no link is broken.
"""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from httpbench.errors import StoreError, UsageError
from httpbench.web import addresses
from httpbench.web.site import Site

HTML = "text/html"


def export(db: Path, folder: Path, runs_max: int, wrote: Callable[[str], None]) -> int:
    """Write the pages of the newest runs, and return the number of pages. ``wrote`` is called with the path of each page.

    The folder must be empty or missing. Raises :class:`UsageError` and :class:`StoreError`.
    """
    site = Site(db, is_static=True, runs_max=runs_max)
    try:
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty", hint="name another folder, or empty it")
        paths = [addresses.RUNS]
        known = set(paths)
        for path in paths:  # the loop adds the links of each page to this list
            page = site.page(path)
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(page.content, encoding="utf-8", errors="replace")
            wrote(path)
            if page.media_type == HTML:
                paths += [link for link in dict.fromkeys(links(page.content, path)) if link not in known]
                known.update(paths)
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error.strerror}", hint="name another folder") from None
    return len(paths)


def links(content: str, path: str) -> list[str]:
    """Return the paths that a page links to, unescaped, ignoring fragments, other hosts and data URLs."""
    parser = _Links()
    parser.feed(content)
    local = [link.partition("#")[0] for link in parser.found if ":" not in link.partition("/")[0]]
    return [unquote(normpath(join(dirname(path), link))) for link in local if link]


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("href", "src") and value]
