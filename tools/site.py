"""Build the site: the pages of this repository, the results with their explorer, and the schemas.

``python -m tools.site DIR`` writes ``DIR/html``. The pages keep their places relative to each other, so their links work on the site as in
the repository. The build fails if a link leads nowhere, or if a page would load anything from another host.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from httpbench.report.markdown.parts import pipe_table

ROOT = Path(__file__).parents[1]
COPIED = (
    "*.md",
    "docs/*.md",
    "docs/images/*.svg",
    "docs/schemas/*.json",
    "targets/*.md",
    "targets/*.toml",
    "crates/loadgen/*.md",
    "results/**/*.*",
)
LINK = re.compile(r"(?<!!)\[([^\]\[]+)\]\(([^)\s]+)\)")
SCHEMAS_INTRO = """\
# Schemas

This page lists the fields of httpbench's JSON export and of its TOML files. Editors can use the schemas for completion.
"""
LOADING = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "srcset", "video": "src", "audio": "src"}
"""Attributes whose addresses a browser loads without a click."""


def build(folder: Path) -> list[str]:
    """Build the site in ``folder``, replacing an earlier one, and return its problems. Raises ``CalledProcessError`` if mkdocs fails."""
    pages, html = folder / "pages", folder / "html"
    for old in (pages, html):
        shutil.rmtree(old, ignore_errors=True)
    stage(pages)
    explore = [sys.executable, "-m", "httpbench", "explore", "results", "-o", "results/explorer.html", "--title", "httpbench results"]
    subprocess.run(explore, cwd=pages, check=True, stdout=subprocess.DEVNULL)
    shutil.copy(ROOT / "tools" / "mkdocs.yml", folder / "mkdocs.yml")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"],
        cwd=folder,
        check=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    return list(problems(html))


def stage(pages: Path) -> None:
    """Copy the pages and results. A link to a file that isn't part of the site becomes plain text."""
    files = [file for pattern in COPIED for file in ROOT.glob(pattern) if file.is_file()]
    for file in files:
        copy = pages / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    (pages / "docs" / "schemas" / "README.md").write_text(schemas_page(ROOT / "docs" / "schemas"), encoding="utf-8")
    for page in pages.rglob("*.md"):
        page.write_text(with_known_links(page.read_text(encoding="utf-8"), page.parent), encoding="utf-8")


def with_known_links(text: str, folder: Path) -> str:
    """Replace links to files that ``folder`` lacks by their text."""

    def known(match: re.Match[str]) -> str:
        path = match[2].partition("#")[0]
        return match[0] if not path or "://" in path or (folder / path).is_file() else match[1]

    return LINK.sub(known, text)


def schemas_page(folder: Path) -> str:
    """Return a page with a table of the fields of each schema."""
    lines = [SCHEMAS_INTRO]
    for file in sorted(folder.glob("*.json")):
        schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        rows = [(name, " ".join(field.get("description", "").split())) for name, field in schema["properties"].items()]
        lines += [
            f"## {file.name.removesuffix('.schema.json')}",
            "",
            f"[{file.name}]({file.name})",
            "",
            *pipe_table(("Field", "Meaning"), (False, False), rows),
            "",
        ]
    return "\n".join(lines)


def problems(html: Path) -> Iterator[str]:
    """Yield each link to a missing page, and each address that a page would load from another host."""
    for page in sorted(html.rglob("*.html")):
        if page.name == "404.html":  # its addresses depend on where the site is
            continue
        parser = Addresses()
        parser.feed(page.read_text(encoding="utf-8"))
        for is_loaded, address in parser.found:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if is_loaded and parts.scheme != "data":
                    yield f"{page.relative_to(html)} loads {address}"
            elif parts.path and not (page.parent / unquote(parts.path)).exists():
                yield f"{page.relative_to(html)} links to {address}, which is missing"


class Addresses(HTMLParser):
    """A parser that collects all addresses, each with whether a browser loads it without a click."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[bool, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        is_loaded = tag in LOADING and values.get("rel") not in ("canonical", "next", "prev")
        for name in ("href", "src", "srcset"):
            if name in values:
                self.found.append((is_loaded and LOADING[tag] == name, values[name]))


def main() -> None:
    """Build the site in the folder that the command line names."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    found = build(folder.resolve())
    for problem in found:
        print(problem, file=sys.stderr)
    print(folder / "html" / "index.html")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
