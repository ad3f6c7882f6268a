"""Make text safe to display.

Everything that httpbench prints or exports passes through this module, because the output may contain text from servers, logs or file
names. Characters that a terminal or a CI system would interpret are replaced by JSON escapes, so that JSON documents keep their meaning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_CI_COMMAND = re.compile(r"^([ \t]*):(?=:)|(#)#(?=\[|vso\[|teamcity\[)", re.MULTILINE)
"""Commands in a CI log: ``::error::`` at the start of a line, and ``##[error]`` anywhere (GitHub, Azure Pipelines, TeamCity)."""


def printable(text: str) -> str:
    """Escape control characters except line feeds and tabs, and commands that a CI system would execute."""
    lines = text.split("\n")
    shown = text if all(map(str.isprintable, lines)) else "\n".join(map(_escaped, lines))
    return _CI_COMMAND.sub(_without_command, shown) if "::" in shown or "##" in shown else shown


def one_line(text: str) -> str:
    """Return printable text in which line feeds are also escaped, for use in a sentence."""
    return printable(text.replace("\n", _escape("\n")))


def _escaped(line: str) -> str:
    """Escape control characters, bidirectional overrides, line separators and lone surrogates."""
    return "".join(character if character.isprintable() or character == "\t" else _escape(character) for character in line)


def _escape(character: str) -> str:
    r"""Return the JSON escape of a character, such as ``\u001b``. A character with more than 16 bits becomes two escapes."""
    return json.dumps(character)[1:-1]


def _without_command(match: re.Match[str]) -> str:
    indent, hash_sign = match.groups()
    return rf"{hash_sign}\u0023" if hash_sign else rf"{indent}\u003a"


def listed(names: Iterable[str]) -> str:
    """Join names into an English list: ``a``; ``a and b``; ``a, b and c``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
