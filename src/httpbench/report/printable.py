"""Text that others wrote, made safe to show: a server's log or body must not drive the reader's terminal."""

from __future__ import annotations


def printable(line: str) -> str:
    """One line, with control characters, escape sequences among them, as Python would write them."""
    return "".join(character if character.isprintable() or character == "\t" else repr(character)[1:-1] for character in line)
