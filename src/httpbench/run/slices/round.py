"""Run a round in slices: start every target of a table, let the targets take turns, and stop them.

A cycle is one slice of every target. The slices of two targets in a cycle are at most a few seconds apart, so a machine that becomes slower
or faster affects all targets of the cycle alike. The idea of pairing measurements in time is from duet benchmarking (Bulej and others,
"Duet benchmarking", ICPE 2020). The idea of randomizing their order is from A. Abedi and T. Brecht ("Conducting repeatable experiments in
highly variable cloud computing environments", ICPE 2017). Turns in slices require no second core, unlike duet benchmarking, and no
restarts, unlike the method of Abedi and Brecht.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

import psutil

from httpbench.model import Trial, TrialPlan
from httpbench.run.interrupt import uninterrupted
from httpbench.run.observer import Observer
from httpbench.run.slices.member import Member
from httpbench.run.slices.order import cycles
from httpbench.run.trial.frame import kept_to
from httpbench.run.trial.inputs import TrialInputs

MEMORY_LEFT_MIN = 0.2
"""Minimum share of the machine's memory that must be available before another target starts."""

DROPS_AHEAD = 3
"""Maximum number by which dropped cycles can exceed kept cycles at any time. An interrupted run on a busy machine thus has results."""


def make_round(
    group: Sequence[Callable[[], TrialInputs]],
    observer: Observer,
    started: Callable[[TrialPlan], object],
    keep: Callable[[Trial], object],
) -> int:
    """Run trials of a table's first targets, as many as fit into memory together, and return the number of trials.

    An interruption ends the turns. Trials with results are kept, and then the interruption is raised.

    Args:
        group: Functions that return the inputs of each trial. Each is called just before its target starts.
        observer: Observer of stages and turns.
        started: Callback that is called before a target starts.
        keep: Callback that is called with each finished trial.
    """
    members: list[Member] = []
    with ExitStack() as stack:
        try:
            for inputs_of in group:
                inputs = inputs_of()
                if not members:
                    stack.enter_context(kept_to(inputs.plan.cores.harness))
                started(inputs.plan)
                members.append(stack.enter_context(Member(inputs, observer)))
                members[-1].open()
                memory = psutil.virtual_memory()
                if memory.available < MEMORY_LEFT_MIN * memory.total:
                    break
            _take_turns(members, observer, accepts_disturbed=inputs.accepts_disturbed)
            made = len(members)
            while members:
                with uninterrupted():
                    keep(members.pop(0).conclude())
        except KeyboardInterrupt:
            for member in members:
                if member.has_results:
                    with uninterrupted():
                        keep(member.conclude())
            raise
    return made


def _take_turns(members: Sequence[Member], observer: Observer, *, accepts_disturbed: bool) -> None:
    """Let the targets take turns until every slice of the plan has been measured.

    A cycle in which other programs disturbed a slice is dropped for all targets and repeated. The number of dropped cycles is at most the
    number of planned ones. On a machine that is never quiet, disturbed cycles therefore count, and the verdict reports a large enough
    disturbance. The throughput and latency of a cycle never determine whether it is dropped.
    """
    wanted, kept, dropped = members[0].plan.slices or 0, 0, 0
    for order in cycles(members, seed=members[0].plan.number):
        if kept == wanted or not any(member.takes_turns for member in order):
            return
        for member in order:
            if member.takes_turns:
                observer.turn(member.plan, kept + 1, wanted, member.last_report)
                member.take_turn()
        taking = [member for member in order if member.takes_turns]
        may_drop = not accepts_disturbed and dropped < min(wanted, kept + DROPS_AHEAD)
        if may_drop and any(member.was_disturbed for member in taking):
            dropped += 1
            for member in taking:
                member.drop()
        else:
            kept += 1
            for member in taking:
                member.keep()
