"""Repeat disturbed trials at the end of each round, in the order of the round, up to a maximum number of times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from httpbench.model import Trial, TrialPlan, VerdictKind
from httpbench.run.plan.slices import tables_of


def with_repeats(plan: Sequence[TrialPlan], made: Sequence[Trial], retries: int) -> Iterator[list[TrialPlan]]:
    """Yield the trials of the plan and, after each round, its disturbed trials. Each trial is repeated at most ``retries`` times.

    Trials whose targets take turns are yielded together, all other trials one by one. Trials in slices aren't repeated here, because
    disturbed slices are repeated within the round. The caller must append each finished trial to ``made``.
    """
    number = len(plan)
    for _, planned in groupby(plan, key=lambda one: one.round):
        pending = list(planned)
        for attempt in range(retries + 1):
            begin = len(made)
            for table in tables_of(pending):
                yield table if attempt == 0 else [one.model_copy(update={"number": number, "attempt": attempt}) for one in table]
                number += attempt > 0
            disturbed = [trial.plan for trial in made[begin:] if trial.verdict.kind is VerdictKind.DISTURBED]
            pending = [one for one in disturbed if one.slices is None]
