"""Makes text safe to show. All that httpbench prints or exports passes through here: servers, logs and names wrote parts of it.

What a terminal or a CI log would obey becomes an escape, in the form of JSON: so a JSON document keeps its meaning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_CI_COMMAND = re.compile(r"^([ \t]*):(?=:)|(#)#(?=\[|vso\[|teamcity\[)", re.MULTILINE)
"""What a CI log obeys: ``::error::`` at the start of a line, and ``##[error]`` anywhere (GitHub, Azure Pipelines, TeamCity)."""


def printable(text: str) -> str:
    """Return the text, in which only line feeds and tabs are control characters, and nothing is a command to a CI log."""
    lines = text.split("\n")
    shown = text if all(map(str.isprintable, lines)) else "\n".join(map(_escaped, lines))
    return _CI_COMMAND.sub(_without_command, shown) if "::" in shown or "##" in shown else shown


def one_line(text: str) -> str:
    """Return the same, with line feeds as escapes too: for a part of a sentence."""
    return printable(text.replace("\n", _escape("\n")))


def _escaped(line: str) -> str:
    """Return a line without control characters, bidirectional overrides, line separators or lone surrogates."""
    return "".join(character if character.isprintable() or character == "\t" else _escape(character) for character in line)


def _escape(character: str) -> str:
    r"""``\u001b``; of a character beyond 16 bits, two of these."""
    return json.dumps(character)[1:-1]


def _without_command(match: re.Match[str]) -> str:
    indent, hash_sign = match.groups()
    return rf"{hash_sign}\u0023" if hash_sign else rf"{indent}\u003a"


def listed(names: Iterable[str]) -> str:
    """Join names into an English list: ``a``; ``a and b``; ``a, b and c``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
