"""After the load, check the complete responses that the load generator kept.

Each body must follow the rule of its workload. A proxy must not change the heads of its backend's responses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from httpbench import contract, http
from httpbench.load import KeptResponse
from httpbench.model import Measurement, Rule, SampledBodies

PROBLEMS_MAX = 5
DRAWN_MIN = 10
"""Minimum number of row ids that can show whether the ids are random. With fewer ids, repeated ids may be a coincidence."""


VARYING = frozenset({"date", "connection"})
"""Header fields that may differ between responses of the same server."""


def with_sampled_bodies(measurement: Measurement, kept: Sequence[KeptResponse], direct: http.Response | None = None) -> Measurement:
    """Check the kept responses, and return the measurement with the results, or unchanged if no responses were kept.

    ``direct`` is a response that came directly from a proxy's backend.
    """
    if not kept:
        return measurement
    wrong = [found for one in kept if (found := "; ".join([*_problems(one), *_changes(one, direct)]))]
    problems = [*dict.fromkeys(wrong), *_drawing_problems(kept)]
    sampled = SampledBodies(checked=len(kept), wrong=len(wrong), problems=tuple(problems[:PROBLEMS_MAX]))
    return measurement.model_copy(update={"sampled_bodies": sampled})


def _changes(one: KeptResponse, direct: http.Response | None) -> Iterator[str]:
    """Yield a sentence for each change that a proxy made to the head of a response."""
    if direct is None:
        return
    found = http.parsed(one.head, one.body)
    if (found.status, found.reason) != (direct.status, direct.reason):
        yield f"the proxy sent `{found.status} {found.reason}` instead of `{direct.status} {direct.reason}`"
    ours, theirs = ({(name, value) for name, value in response.headers if name.lower() not in VARYING} for response in (found, direct))
    changed = [f"{name}: {value}" for name, value in sorted(ours ^ theirs)]
    if changed:
        yield f"the proxy changed headers: `{'`, `'.join(changed)}`"


def _problems(one: KeptResponse) -> list[str]:
    if one.workload.expect.rule is None:
        return []  # the load generator has checked the body
    if one.truncated:
        return ["a body of more than 64 KiB"]
    return http.problems(http.parsed(one.head, one.body), b"", one.workload.expect)


def _drawing_problems(kept: Sequence[KeptResponse]) -> Iterator[str]:
    """Yield a problem for each workload whose responses contain ids of the table World that weren't chosen at random."""
    for workload in {one.workload.name: one.workload for one in kept}.values():
        bodies = [one.body for one in kept if one.workload.name == workload.name and not _problems(one)]
        if workload.expect.rule in (Rule.WORLD, Rule.WORLDS):
            ids = [row_id for body in bodies for row_id in contract.row_ids(body)]
            if len(ids) >= DRAWN_MIN and (found := contract.drawing_problem(ids)):
                yield f"{workload.name}: {found}"
