"""Check the whole responses that a load generator kept against the rules of their workloads, after the load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from httpbench import contract, http
from httpbench.load import KeptResponse
from httpbench.model import Measurement, Rule, SampledBodies

PROBLEMS_MAX = 5
DRAWN_MIN = 10
"""Minimum number of rows for judging whether ids are random, because two may be equal by chance."""


def with_sampled_bodies(measurement: Measurement, kept: Sequence[KeptResponse]) -> Measurement:
    """Return the measurement with the results of the kept responses; unchanged if there are none."""
    if not kept:
        return measurement
    wrong = [found for one in kept if (found := "; ".join(_problems(one)))]
    problems = [*dict.fromkeys(wrong), *_drawing_problems(kept)]
    sampled = SampledBodies(checked=len(kept), wrong=len(wrong), problems=tuple(problems[:PROBLEMS_MAX]))
    return measurement.model_copy(update={"sampled_bodies": sampled})


def _problems(one: KeptResponse) -> list[str]:
    if one.truncated:
        return ["a body of more than 64 KiB"]
    return http.problems(http.parsed(one.head, one.body), b"", one.workload.expect)


def _drawing_problems(kept: Sequence[KeptResponse]) -> Iterator[str]:
    """Yield problems of ids of the table World that weren't drawn at random, for each workload of a mix separately."""
    for workload in {one.workload.name: one.workload for one in kept}.values():
        bodies = [one.body for one in kept if one.workload.name == workload.name and not _problems(one)]
        if workload.expect.rule in (Rule.WORLD, Rule.WORLDS):
            ids = [row_id for body in bodies for row_id in contract.row_ids(body)]
            if len(ids) >= DRAWN_MIN and (found := contract.drawing_problem(ids)):
                yield f"{workload.name}: {found}"
