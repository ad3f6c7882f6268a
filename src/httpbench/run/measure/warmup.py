"""Warms a target up until its throughput is steady.

Our own load generator makes the load, whichever measures afterwards: it is the one that says what happens while it happens. It is a process
of its own and ends with the warm-up, so what it did to the target stays and its connections do not: the generator that measures warms up
those of its own, for the fixed part of the warm-up.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from dataclasses import replace

from httpbench import load
from httpbench.errors import LoadError
from httpbench.isolate import Command, ProcessTree
from httpbench.load import Job, LoadGenerator, Output, Phase, Progress
from httpbench.model import Settling
from httpbench.stats.steady import is_warm

WINDOW_S = 0.1
POLL_S = 0.1
SLACK_S = 15.0  # for connecting and ending, beyond what was asked for
GENERATOR = "native"


def settle(job: Job, death: Callable[[], str | None], report: Callable[[Progress], None]) -> Settling:
    """Loads a target until it is steady, at most for the load's ``warmup_max_s`` less its ``warmup_s``.

    Ends early, and not steady, when the target dies: the measurement that follows says so. Raises :class:`LoadError` when the
    generator fails or hangs.
    """
    generator, own = load.get(GENERATOR), _warmup_job(job)
    windows: list[float] = []
    said: list[str] = []
    deadline = time.monotonic() + own.load.duration_s + own.load.timeout_s + SLACK_S
    with ProcessTree([Command(generator.argv(own, warmup=False), job.scratch, {}, job.cpus)], stdout=job.scratch / "settle.out") as tree:
        pending = ""
        while death() is None and not is_warm(windows):
            if time.monotonic() > deadline:
                raise LoadError(f"{generator.name} did not end its warm-up of {own.load.duration_s:g} s")
            has_ended = bool(tree.exits())
            if select.select([tree.stderr], [], [], 0 if has_ended else POLL_S)[0]:
                *lines, pending = (pending + os.read(tree.stderr, 65_536).decode(errors="replace")).split("\n")
                windows += [rate for line in lines if (rate := _rate(generator, line, report)) is not None]
                said += [line for line in lines if generator.progress(line) is None]
            elif has_ended:
                break
        exits = tuple(tree.exits())  # those that ended before we ended them
        tree.stop()
    if exits and exits[0].code != 0 and death() is None:
        output = Output("", "\n".join([*said, pending]), exits[0].code)
        raise LoadError(f"{generator.name} {output.ending} while it warmed the target up", log_tail=output.tail or None)
    return Settling(window_s=WINDOW_S, throughput_rps=tuple(windows), is_steady=is_warm(windows))


def _warmup_job(job: Job) -> Job:
    """The same load, at the rate with which a rising one begins, for as long as it may take."""
    asked = job.load
    assert asked.warmup_max_s is not None
    rate = asked.rate_from_rps or asked.rate_rps
    flat = {"rate_rps": rate, "rate_from_rps": None, "rate_step_rps": None, "step_s": None}
    time_limits = {"duration_s": asked.warmup_max_s - asked.warmup_s, "warmup_s": 0.0, "warmup_max_s": None}
    return replace(job, load=asked.model_copy(update={**flat, **time_limits}), interval_s=WINDOW_S)


def _rate(generator: LoadGenerator, line: str, report: Callable[[Progress], None]) -> float | None:
    """Of a window that is over, in right answers per second; ``None`` for any other line. Told as a part of the warm-up."""
    progress = generator.progress(line)
    if progress is None or progress.phase is not Phase.MEASURE or progress.elapsed_s == 0:
        return None
    report(replace(progress, phase=Phase.WARMUP))
    return progress.throughput_rps
