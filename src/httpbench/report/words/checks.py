"""The outcomes of contract checks as clauses."""

from __future__ import annotations

from httpbench.contract import Check
from httpbench.report.words.reasons import joined


def check_text(check: Check) -> str:
    """Return the outcome of a check as a clause."""
    problem = check.problem if check.problem is None or isinstance(check.problem, str) else joined(check.problem)
    if check.declared and problem is None and check.passed:
        return f"holds this time, although {check.limit} is declared"
    if check.declared:
        return f"does not hold, as declared ({check.limit}): {problem}" if problem else f"holds, but {check.limit} is declared"
    return problem or "holds"
