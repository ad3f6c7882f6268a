"""Text with control sequences for terminals, CI logs and markup, and a check that finds them in output."""

from __future__ import annotations

import re

from hypothesis import strategies as st

PIECES = (
    *(
        "\x1b[2J",
        "\x1b]0;owned\x07",
        "\x1b]8;;http://example.org\x1b\\",
        "\x1b[8m",
        "\x9b31m",
        "\x00",
        "\x08",
        "\r",
        "\x7f",
        "\x85",
        "\x0b",
    ),
    *("\u202e", "\u2066", "\u2028", "\u2029", "\u200b", "\ufeff", "\U000e0041"),
    *("::error::owned", "\n::stop-commands::owned", "\n  ::add-mask::owned", "##[error]owned", "##vso[task.complete]owned"),
    *(
        "=1+1",
        "+1",
        "-1",
        "@SUM(1)",
        "|",
        "`",
        "\n```\n",
        "<script>owned</script>",
        "<!--",
        "[red]",
        "[/red]",
        "[link=x]",
        ":boom:",
        "\\",
        "'",
        '"',
    ),
    *("\t", "\n", " ", "plain words", "größer", "日本", "🚀"),
)

TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=6).map("".join)

ALL = "".join(PIECES)
"""Text that contains every piece."""

OBEYED = re.compile(r"^\s*::|##\[|##vso\[|##teamcity\[", re.MULTILINE)
STYLES = re.compile(r"\x1b\[(?:[0-79]|[1-9][0-9]|38;5;[0-9]+|;)*m")
"""Escape sequences that rich uses for colors and styles, except the one that hides text."""


def obeyed(text: str) -> list[str]:
    """Return the lines that contain a control sequence that a terminal or a CI log would obey."""
    return [
        line
        for line in text.split("\n")
        if OBEYED.search(line) or not all(character.isprintable() or character == "\t" for character in line)
    ]
