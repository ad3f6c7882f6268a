"""After the load, check the complete responses that the load generator kept.

Each body must follow the rule of its workload. A proxy must not change the heads of its backend's responses. In HTTP mode, RFC 9110 allows
some changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from httpbench import contract, databases, http
from httpbench.load import KeptResponse
from httpbench.model import Measurement, ProxyMode, Rule, SampledBodies

PROBLEMS_MAX = 5
DRAWN_MIN = 10
"""Minimum number of row ids that can show whether the ids are random. With fewer ids, repeated ids may be a coincidence."""


VARYING = frozenset({"date", "connection"})
"""Header fields that may differ between responses of the same server."""

OF_EACH_HOP = VARYING | http.HOP_BY_HOP | {"content-length", "server"}
"""Header fields that a proxy in HTTP mode may change: those about one connection, about the framing, and about the sender."""


def with_sampled_bodies(
    measurement: Measurement,
    kept: Sequence[KeptResponse],
    direct: http.Response | None = None,
    mode: ProxyMode = ProxyMode.TCP,
    *,
    fresh_rows: bool = False,
) -> Measurement:
    """Check the kept responses, and return the measurement with the results, or unchanged if no responses were kept.

    ``direct`` is a response that came directly from the backend of a proxy in this mode. ``fresh_rows`` says whether the database's tables
    are as they were created.
    """
    if not kept:
        return measurement
    changes = _changes if mode is ProxyMode.TCP else _changes_of_http
    wrong = [found for one in kept if (found := "; ".join([*_problems(one), *(changes(one, direct) if direct else ())]))]
    problems = [*dict.fromkeys(wrong), *_drawing_problems(kept, fresh_rows=fresh_rows)]
    sampled = SampledBodies(checked=len(kept), wrong=len(wrong), problems=tuple(problems[:PROBLEMS_MAX]))
    return measurement.model_copy(update={"sampled_bodies": sampled})


def _changes(one: KeptResponse, direct: http.Response) -> Iterator[str]:
    """Yield a sentence for each change that a proxy made to the head of a response."""
    found = http.parsed(one.head, one.body)
    if (found.status, found.reason) != (direct.status, direct.reason):
        yield f"the proxy sent `{found.status} {found.reason}` instead of `{direct.status} {direct.reason}`"
    ours, theirs = ({(name, value) for name, value in response.headers if name.lower() not in VARYING} for response in (found, direct))
    changed = [f"{name}: {value}" for name, value in sorted(ours ^ theirs)]
    if changed:
        yield f"the proxy changed headers: `{'`, `'.join(changed)}`"


def _changes_of_http(one: KeptResponse, direct: http.Response) -> Iterator[str]:
    """Yield a sentence for each change that a proxy in HTTP mode must not make to the head of a response.

    The proxy may add fields, such as ``Via``. It may also change the reason phrase, which HTTP/2 doesn't have.
    """
    found = http.parsed(one.head, one.body)
    if found.status != direct.status:
        yield f"the proxy sent status {found.status} instead of {direct.status}"
    came = {(name.lower(), value) for name, value in found.headers}
    lost = [f"{name}: {value}" for name, value in direct.headers if name.lower() not in OF_EACH_HOP and (name.lower(), value) not in came]
    if lost:
        yield f"the proxy removed or changed headers: `{'`, `'.join(lost)}`"


def _problems(one: KeptResponse) -> list[str]:
    if one.workload.expect.rule is None:
        return []  # the load generator has checked the body
    if one.truncated:
        return ["a body of more than 64 KiB"]
    return http.problems(http.parsed(one.head, one.body), b"", one.workload.expect)


def _drawing_problems(kept: Sequence[KeptResponse], *, fresh_rows: bool) -> Iterator[str]:
    """Yield a problem for each workload whose rows aren't in the table World, or whose ids weren't chosen at random."""
    for workload in {one.workload.name: one.workload for one in kept}.values():
        bodies = [one.body for one in kept if one.workload.name == workload.name and not _problems(one)]
        if workload.expect.rule in (Rule.WORLD, Rule.WORLDS):
            rows = [row for body in bodies for row in contract.rows_in(body)]
            if fresh_rows and (wrong := databases.numbers_problem(rows)):
                yield f"{workload.name}: {wrong}"
            ids = [row_id for row_id, _ in rows]
            if len(ids) >= DRAWN_MIN and (found := contract.drawing_problem(ids)):
                yield f"{workload.name}: {found}"
