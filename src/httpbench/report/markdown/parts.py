"""Tables, escaped text and code blocks in GitHub-flavored Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

SHORTEST_FENCE = 3
ACTIVE = re.compile(r"[@#]|GH-(?=\d)|:(?=//)|www(?=\.)", re.IGNORECASE)
"""What GitHub turns into a mention of a person, a reference to an issue, or a link, if other text follows without a gap."""


def pipe_table(
    header: Sequence[str], numbers: Sequence[bool], rows: Sequence[Sequence[str]], struck: Sequence[Sequence[bool]] = ()
) -> list[str]:
    """Return the lines of a table. Columns are padded so that the Markdown source is also readable.

    ``numbers`` marks right-aligned columns. ``struck`` marks struck-through cells; if it is empty, no cell is struck through.
    """
    cells = [[escape(text) for text in row] for row in (header, *rows)]
    for row, marks in zip(cells[1:], struck, strict=False):
        row[:] = [f"~~{text}~~" if mark else text for text, mark in zip(row, marks, strict=True)]
    widths = [max(3, *(len(row[index]) for row in cells)) for index in range(len(header))]
    ruler = [("-" * (width - 1) + ":") if number else "-" * width for width, number in zip(widths, numbers, strict=True)]
    padded = [
        [text.rjust(width) if number else text.ljust(width) for text, width, number in zip(row, widths, numbers, strict=True)]
        for row in cells
    ]
    return [f"| {' | '.join(row)} |" for row in (padded[0], ruler, *padded[1:])]


def escape(text: str) -> str:
    """Escape text so that Markdown shows it unchanged, even in a table cell, and so that GitHub doesn't mention or link anything in it."""
    text = re.sub(r"([\\|*`\[\]~]|(?<!\w)_|_(?!\w))", r"\\\1", text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("$", "<span>$</span>")
    return ACTIVE.sub(r"\g<0><!-- -->", text).replace("\n", "<br>")


def fenced(text: str) -> list[str]:
    """Return a code block with a fence that is longer than any fence in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(SHORTEST_FENCE, longest + 1)
    return [fence, *text.splitlines(), fence]
