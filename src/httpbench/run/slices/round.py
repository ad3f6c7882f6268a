"""Run a round in slices: start every target of a table, let the targets take turns, and stop them.

A cycle is one slice of every target. The slices of two targets in a cycle are usually at most a few seconds apart. If the machine becomes
slower or faster, all targets of the cycle are therefore affected alike. The idea of pairing measurements in time comes from duet
benchmarking (Bulej and others, "Duet benchmarking", ICPE 2020). The idea of randomizing their order comes from A. Abedi and T. Brecht
("Conducting repeatable experiments in highly variable cloud computing environments", ICPE 2017). Unlike duet benchmarking, slices don't
require a second core. Unlike the method of Abedi and Brecht, they don't require restarts.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING

from httpbench.model import Trial, TrialPlan
from httpbench.run.interrupt import uninterrupted
from httpbench.run.observer import Observer
from httpbench.run.slices.member import Member
from httpbench.run.slices.order import cycles
from httpbench.run.slices.quiet import wait_until_quiet
from httpbench.run.slices.started import SharedBackend
from httpbench.run.trial.frame import kept_to
from httpbench.run.trial.inputs import TrialInputs
from httpbench.stats.slices import are_too_short

if TYPE_CHECKING:
    from httpbench.run.slices.recorder import Recorder

MEMORY_LEFT_MIN = 0.2
"""Minimum share of the machine's memory that must be available before another target starts."""

LOST_SHARE_MAX = 3.0
"""Maximum time for repeating slices and waiting, relative to the total length of the windows up to the current cycle. Each round may take
``BURST_S_MAX`` in addition."""

REPEATS_MIN = 8
"""Minimum number of repeated slices before httpbench judges whether repeating helps."""

BURST_S_MAX = 2.5
"""Maximum time to wait for idle cores, in seconds. A program that runs for longer probably runs for the whole round."""


def make_round(
    group: Sequence[Callable[[], TrialInputs]],
    observer: Observer,
    started: Callable[[TrialPlan], object],
    keep: Callable[[Trial], object],
    whole: Callable[[TrialInputs], Trial],
    recorder: Callable[[TrialPlan], Recorder] | None = None,
) -> int:
    """Run the trials of as many of a table's targets as fit into memory, beginning with the first. Returns the number of trials.

    A target with a long drain takes no turns. Servers such as Puma wait on each connection for another request before they respond on the
    next one, so each of its slices would end with seconds of idling. If slices turn out to be too short for a target's responses, a whole
    trial replaces them.

    An interruption ends the turns. Trials with results are kept, and then the interruption is raised again.

    Args:
        group: Functions that return the inputs of each trial. Each is called just before its target starts.
        observer: Observer of stages and turns.
        started: Callback that is called before a target starts.
        keep: Callback that is called with each finished trial.
        whole: Function that runs the whole trial of a target that takes no turns.
        recorder: Function that returns the recorder of a target's profile. ``None``: the round counts, so an interruption is delayed until
            its results are kept.
    """
    delayed = uninterrupted if recorder is None else nullcontext
    members: list[Member] = []
    too_slow: list[Member] = []
    made = 0
    with ExitStack() as stack:
        backend = SharedBackend(stack)
        try:
            for inputs_of in group:
                inputs = inputs_of()
                if not made:
                    stack.enter_context(kept_to(inputs.plan.cores.harness))
                started(inputs.plan)
                member = stack.enter_context(Member(inputs, observer, backend, recorder(inputs.plan) if recorder else None))
                member.open()
                made += 1
                if member.has_long_drain:
                    keep(whole(member.inputs_without_turns))
                    continue
                members.append(member)
                if _is_memory_short():
                    break
            if members:
                _take_turns(members, observer, accepts_disturbed=inputs.accepts_disturbed)
            while members:
                with delayed():
                    member = members.pop(0)
                    trial = member.conclude()
                    if are_too_short(trial):
                        too_slow.append(member)
                    else:
                        keep(trial)
            for member in too_slow:
                keep(whole(member.inputs_without_turns))
        except KeyboardInterrupt:
            for member in members:
                if member.has_results and recorder is None:
                    with uninterrupted():
                        keep(member.conclude())
            raise
    return made


def _is_memory_short() -> bool:
    """Return whether too little memory is available to start another target."""
    import psutil

    memory = psutil.virtual_memory()
    return bool(memory.available < MEMORY_LEFT_MIN * memory.total)


def _take_turns(members: Sequence[Member], observer: Observer, *, accepts_disturbed: bool) -> None:
    """Let the targets take turns until every slice of the plan has been measured.

    If other programs disturb a slice, it is dropped and repeated when the cores are idle. The total time for this is limited. If the cores
    don't become idle, or if more than half of the repeated slices are disturbed again, no more slices are repeated. From then on, disturbed
    slices count, and the verdict reports the disturbance if it is large enough. The throughput and latency of a slice never determine
    whether it is dropped.
    """
    planned = members[0].plan
    wanted, cpus = planned.slices or 1, planned.cores.measured
    cycle_s = len(members) * planned.load.duration_s / wanted
    repeats, lost_s = not accepts_disturbed, 0.0
    repeated = in_vain = 0
    for number, order in enumerate(itertools.islice(cycles(members, seed=planned.number), wanted), 1):
        for member in order:
            if not member.takes_turns:
                continue
            observer.turn(member.plan, number, wanted, member.last_report)
            member.take_turn()
            while repeats and member.was_disturbed and (left_s := BURST_S_MAX + LOST_SHARE_MAX * cycle_s * number - lost_s) > 0:
                begin = time.monotonic()
                member.drop()
                repeats = wait_until_quiet(cpus, min(left_s, BURST_S_MAX)) or left_s < BURST_S_MAX
                if member.takes_turns:
                    member.take_turn()
                    repeated += 1
                    in_vain += member.was_disturbed
                repeats = repeats and not (repeated >= REPEATS_MIN and in_vain > repeated / 2)
                lost_s += time.monotonic() - begin
            member.keep()
