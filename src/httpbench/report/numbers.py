"""Figures as text."""

from __future__ import annotations


def percentage(share: float) -> str:
    """``1.8%``, ``25%``, ``0.04%``."""
    value = share * 100
    return f"{value:.2g}%" if value < 0.1 else f"{value:.{1 if value < 10 else 0}f}%"


def three_digits(value: float) -> str:
    """``0.202``, ``10.6``, ``1,500``: never with an exponent."""
    return f"{value:.3g}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"
