"""Pure functions over measurements: summaries, intervals, comparisons, merged histograms, verdicts. No files, no clocks."""

from __future__ import annotations

from httpbench.stats.evidence import Evidence
from httpbench.stats.interval import ConfidenceInterval
from httpbench.stats.paired import Comparison, compare
from httpbench.stats.summary import Estimate, Latency, Summary, summarize
from httpbench.stats.verdict import judge

__all__ = [
    "Comparison",
    "ConfidenceInterval",
    "Estimate",
    "Evidence",
    "Latency",
    "Summary",
    "compare",
    "judge",
    "summarize",
]
