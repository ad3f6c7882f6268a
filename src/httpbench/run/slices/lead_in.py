"""The length of the lead-in of a slice, during which responses don't count."""

from __future__ import annotations

from random import Random

LEAD_IN_S = 0.01
"""Minimum lead-in, in seconds. During the lead-in, caches, CPU clocks and sleeping threads recover from another target's slice.

``benchmarks/interleaving/recovery.py`` measures how long the recovery takes. In the first 5 ms, six servers reached 84 to 99% of their
usual speed. After that, all of them were back to normal, within the noise.
"""

COVERED_S_MAX = 0.25
"""Maximum stall that a lead-in covers, in seconds.

A target is frozen only when no request is in flight, so a slice never starts in the middle of a stall. Without a lead-in, the beginning of
the window would contain too few stalls. If the lead-in is at least as long as a stall, stalls are as likely at the beginning of the window
as at any other time.
"""

SPREAD = 2.0
"""Maximum length of the random part of the lead-in, relative to the fixed part. The random part is also never longer than the window."""


def lead_in_s(longest_s: float, window_s: float, random: Random) -> float:
    """Return the length of a lead-in, in seconds.

    The random part prevents slices from synchronizing with periodic stalls. If a stall begins during a slice, the slice ends only after the
    stall. The next stall then begins after the target has run for a fixed time. If all slices were equally long, stalls could always begin
    at the same point of a window. In an experiment, a server stalled for 150 ms after every 700 ms. Its measured throughput was 28% too
    low, because every second window ended in a stall.

    Args:
        longest_s: Time of the slowest response so far, in seconds.
        window_s: Length of the window, in seconds.
        random: Source of the random part.
    """
    covered_s = min(max(LEAD_IN_S, longest_s), COVERED_S_MAX)
    return covered_s + random.uniform(0, min(SPREAD * covered_s, window_s))
