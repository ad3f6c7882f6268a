"""Text about slow times of a measurement and their causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from httpbench.report.words.numbers import percentage, plural
from httpbench.stats.stall_causes import SLOW_MAX, SlowTime, StallCause

SHOWN_MAX = 4
"""Maximum number of slow times with a line of their own. The longest ones are shown."""

_CAUSES = {
    StallCause.THROTTLED: "the kernel throttled the target, because its CPU quota was used up",
    StallCause.STOLEN: "the hypervisor gave the target's CPUs to other virtual machines",
    StallCause.DATABASE: "the target waited for the database, which used all its cores",
}
_NAMES = {StallCause.THROTTLED: "throttled", StallCause.STOLEN: "steal", StallCause.DATABASE: "database"}


def cause_name(slow: SlowTime) -> str:
    """Return the name of a slow time's cause, or an empty text if it is unknown."""
    return _NAMES[slow.cause] if slow.cause else ""


def slow_notes(found: Mapping[str, Sequence[SlowTime]]) -> list[str]:
    """Explain the marks of slow times, and list the longest slow times whose cause is known. ``found`` contains the slow times by load."""
    every = [(load, slow) for load, several in found.items() for slow in several]
    if not every:
        return []
    known = sorted(((load, slow) for load, slow in every if slow.cause), key=lambda one: one[1].start_s - one[1].end_s)
    shown = sorted(known[:SHOWN_MAX], key=lambda one: (list(found).index(one[0]), one[1].start_s))
    causes = f"cause known for {len(known)} of {plural(len(every), 'time')}" if known else "cause unknown"
    legend = f"▲ less than {percentage(SLOW_MAX)} of the median rate; {causes}"
    return [legend, *(_line(load if len(found) > 1 else "", slow) for load, slow in shown)]


def _line(load: str, slow: SlowTime) -> str:
    assert slow.cause is not None, "the caller knows the cause"
    place = f"{load}, " if load else ""
    return f"{place}{slow.start_s:.1f}–{slow.end_s:.1f} s: {_CAUSES[slow.cause]}"
