"""Figures as text."""

from __future__ import annotations

import math

DIGITS = 4
"""Significant digits of the figures in tables: beyond these lies the noise of any machine."""


def percentage(share: float) -> str:
    """``1.8%``, ``25%``, ``0.04%``."""
    value = share * 100
    return f"{value:.2g}%" if value < 0.1 else f"{value:.{1 if value < 10 else 0}f}%"


def three_digits(value: float) -> str:
    """``0.202``, ``10.6``, ``1,500``: never with an exponent."""
    return f"{value:.3g}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"


def four_digits(value: float, decimals: int) -> str:
    """At most four significant digits, and at most ``decimals`` after the point: ``409,900``, ``16.71``, ``0.149``."""
    rounded = round(value, DIGITS - _whole_digits(value))
    places = min(max(DIGITS - _whole_digits(rounded), 0), decimals)
    return f"{rounded:,.{places}f}"


def _whole_digits(value: float) -> int:
    """Digits before the point; none or fewer for values below one."""
    return math.floor(math.log10(abs(value))) + 1 if value else 1
