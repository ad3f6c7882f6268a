"""Text that others wrote, made safe to show: a server's log or body must not drive the reader's terminal."""

from __future__ import annotations


def printable(line: str) -> str:
    """One line, with control characters, escape sequences among them, as Python would write them."""
    return "".join(character if character.isprintable() or character == "\t" else repr(character)[1:-1] for character in line)


def percentage(share: float) -> str:
    """``1.8 %``, ``25 %``, ``0.04 %``."""
    value = share * 100
    return f"{value:.2g} %" if value < 0.1 else f"{value:.{1 if value < 10 else 0}f} %"


def three_digits(value: float) -> str:
    """``0.202``, ``10.6``, ``1,500``: never with an exponent."""
    return f"{value:.3g}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"
