"""Pure functions over what was measured: summaries over rounds, merged histograms, verdicts. No files, no clocks, no processes."""

from __future__ import annotations

from httpbench.stats.summary import Estimate, Latency, Summary, summarise
from httpbench.stats.verdict import Evidence, judge

__all__ = ["Estimate", "Evidence", "Latency", "Summary", "judge", "summarise"]
