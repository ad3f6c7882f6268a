"""The outcomes of contract checks as clauses."""

from __future__ import annotations

from httpbench.contract import Check
from httpbench.model import Conformance
from httpbench.report.words.reasons import joined


def check_text(check: Check) -> str:
    """Return the outcome of a check as a clause."""
    problem = check.problem if check.problem is None or isinstance(check.problem, str) else joined(check.problem)
    if check.declared and problem is None and check.passed:
        return f"holds this time, although {check.limit} is declared"
    if check.declared:
        return f"does not hold, as declared ({check.limit}): {problem}" if problem else f"holds, but {check.limit} is declared"
    return problem or "holds"


def conformance_text(found: Conformance) -> str:
    """Return the result of h2spec: ``118 of 145 tests passed; failed: http2/5.1 (6), hpack/4.2``."""
    failed = ", ".join(f"{section} ({count})" if count > 1 else section for section, count in sorted(found.failed.items()))
    return f"{found.passed} of {found.total} tests passed" + (f"; failed: {failed}" if failed else "")
