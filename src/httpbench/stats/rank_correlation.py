"""Compute Spearman's rank correlation, which shows how similarly two series rank the same items.

Source: C. Spearman, "The proof and measurement of association between two things", American Journal of Psychology 15, 1904.
"""

from __future__ import annotations

from collections.abc import Sequence

ROWS_MIN = 3


def rank_correlation(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Return the rank correlation: 1 for the same order, 0 for unrelated orders, -1 for reversed orders.

    Equal values share their mean rank. Returns ``None`` for fewer than three pairs, or if all values of one side are equal.

        >>> rank_correlation([1, 2, 3], [10, 20, 25])
        1.0
    """
    if len(ours) != len(theirs):
        raise ValueError("each figure requires its counterpart")
    if len(ours) < ROWS_MIN or len(set(ours)) == 1 or len(set(theirs)) == 1:
        return None
    from scipy.stats import spearmanr  # imported here because scipy.stats is slow to load

    return float(spearmanr(ours, theirs).statistic)
