"""Numbers, counts and values with units as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from httpbench.model import BETWEEN_EVENTS, FIRST_BYTE, FIRST_EVENT

if TYPE_CHECKING:
    from httpbench.stats.ranks import RankRange

DIGITS = 4
"""Number of significant digits in tables. More digits would show only noise."""

COMMIT_DIGITS = 12

WIDEST = 1.0
"""Half width above which an interval includes zero. How wide it is says nothing more about the value."""


def percentage(share: float) -> str:
    """Format a share: ``1.8%``, ``25%``, ``0.04%``."""
    value = share * 100
    return f"{value:.2g}%" if value < 0.1 else f"{value:.{1 if value < 10 else 0}f}%"


def rank_text(rank: RankRange) -> str:
    """Format a range of ranks: ``1``, ``2–4``."""
    return str(rank.best) if rank.best == rank.worst else f"{rank.best}–{rank.worst}"


def plus_minus(half_width: float) -> str:
    """Format half the width of a relative interval: ``± 1.8%``, or ``± more than 100%``."""
    return "± more than 100%" if half_width > WIDEST else f"± {percentage(half_width)}"


def half_width_text(half_width: float) -> str:
    """Format half the width of a relative interval in percent, without the unit: ``1.8``, or ``>100``."""
    return f">{WIDEST * 100:.0f}" if half_width > WIDEST else f"{half_width * 100:.1f}"


def three_digits(value: float) -> str:
    """Format a number with three significant digits and no exponent: ``0.202``, ``10.6``, ``1,500``."""
    return f"{value:.3g}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"


def four_digits(value: float, decimals: int) -> str:
    """Format a number with at most four significant digits and at most ``decimals`` decimals: ``409,900``, ``16.71``, ``0.149``."""
    rounded = round(value, DIGITS - _whole_digits(value))
    places = min(max(DIGITS - _whole_digits(rounded), 0), decimals)
    return f"{rounded:,.{places}f}"


def figure_text(value: float | None) -> str:
    """Format a number with four significant digits, no trailing zeros and no exponent: ``10.64``. The text is empty for ``None``."""
    if value is None:
        return ""
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:f}".rstrip("0").rstrip(".")


_PREFIXES = {FIRST_BYTE: "TTFB ", FIRST_EVENT: "First event ", BETWEEN_EVENTS: "Between "}


def figure_name(figure: str) -> str:
    """Return the displayed name of a metric: ``p99.9`` for ``p99_9``, ``TTFB p99`` for ``ttfb_p99``."""
    prefix = next((prefix for prefix in _PREFIXES if figure.startswith(prefix)), "")
    return _PREFIXES.get(prefix, "") + figure.removeprefix(prefix).replace("_", ".")


def column_name(figure: str) -> str:
    """Return the name of a metric on the command line: ``p99.9`` for ``p99_9``, ``ttfb-p99`` for ``ttfb_p99``."""
    return figure_name(figure).lower().replace(" ", "-")


def plural(count: int, noun: str, several: str | None = None) -> str:
    """Return a count with its noun: ``1 round``, ``1,000 rounds``, ``2 copies``."""
    return f"{count:,} {noun if count == 1 else several or f'{noun}s'}"


def shortened(name: str, width: int) -> str:
    """Shorten a text to at most ``width`` characters."""
    return name if len(name) <= width else f"{name[: width - 1]}…"


def minute(moment: str) -> str:
    """Format an ISO 8601 time: ``2026-11-23 08:00``."""
    return moment[:16].replace("T", " ")


def commit_text(name: str, digits: int = COMMIT_DIGITS) -> str:
    """Shorten the id of a commit: ``0123456789ab`` or ``0123456789ab+changes``."""
    commit, plus, changes = name.partition("+")
    return commit[:digits] + plus + changes


def _whole_digits(value: float) -> int:
    """Return the number of digits before the decimal point. For values below one, the result is zero or negative."""
    return math.floor(math.log10(abs(value))) + 1 if value and math.isfinite(value) else 1
