"""The outcomes of contract checks as clauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from httpbench.contract import Check, limits_to_declare
from httpbench.model import Conformance, ProxyOutcome, Target
from httpbench.report.words.reasons import joined
from httpbench.report.words.targets import LIMITS
from httpbench.text import listed


def check_text(check: Check) -> str:
    """Return the outcome of a check as a clause."""
    problem = check.problem if check.problem is None or isinstance(check.problem, str) else joined(check.problem)
    if check.declared and problem is None and check.passed:
        return f"holds this time, although {check.limit} is declared"
    if check.declared:
        return f"does not hold, as declared ({check.limit}): {problem}" if problem else f"holds, but {check.limit} is declared"
    return problem or "holds"


def advice(target: Target, checks: Sequence[Check]) -> Iterator[str]:
    """Yield what to fix in a target whose checks failed, and the line of its ``target.toml`` that would make the other checks pass."""
    limits = limits_to_declare(target.limits, checks)
    excused = {check.name for check in checks if not check.passed and (check.declared or any(limit in limits for limit in check.excuses))}
    if unexcused := list(dict.fromkeys(check.name for check in checks if not check.passed and check.name not in excused)):
        yield f"fix the target, because no limit excuses this: {'; '.join(unexcused)}"
    if set(limits) != set(target.limits):
        added = [limit for limit in limits if limit not in target.limits]
        names = ", ".join(f'"{limit}"' for limit in limits)
        file = Path(target.folder, "target.toml")
        if added:
            lacking = listed(LIMITS[limit] for limit in added)
            yield f"fix the rest, or if the target by design {lacking}, write in {file}: limits = [{names}]"
        else:
            yield f"some of its limits don't apply; write in {file}: limits = [{names}]"


def conformance_text(found: Conformance) -> str:
    """Return the result of h2spec: ``118 of 145 tests passed; failed: http2/5.1 (6), hpack/4.2``."""
    failed = ", ".join(f"{section} ({count})" if count > 1 else section for section, count in sorted(found.failed.items()))
    return f"{found.passed} of {found.total} tests passed" + (f"; failed: {failed}" if failed else "")


def ambiguous_text(found: Mapping[str, ProxyOutcome]) -> str:
    """Return what a proxy did with ambiguous requests: ``17 rejected, 2 normalized, 1 forwarded (te-unknown)``."""
    parts = []
    for outcome in ProxyOutcome:
        names = [name for name, own in found.items() if own is outcome]
        parts.append(f"{len(names)} {outcome}" + (f" ({', '.join(names)})" if names and outcome is not ProxyOutcome.REJECTED else ""))
    return ", ".join(parts)
