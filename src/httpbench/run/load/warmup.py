"""Warm up a target, for a fixed time or until its throughput is steady.

Until throughput is steady, httpbench-loadgen generates the load, no matter which generator measures afterward, because no other generator
reports its throughput while it runs. httpbench-loadgen then ends and closes its connections, but the target stays warm. The measuring
generator warms up its own connections in the fixed part of the warm-up.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from httpbench.errors import LoadError
from httpbench.load import Job, LoadGenerator, Output, Phase, Progress
from httpbench.model import Arrivals, Settling
from httpbench.run.load.lines import StderrLines
from httpbench.run.load.place import HERE, LoadPlace

OVERLOAD_WARMUP_SHARE = 0.5
"""Rate of the warm-up of an overload, as a share of the peak."""

WINDOW_S = 0.1
SLACK_S = 15.0  # time for connecting and ending, in addition to the load's own time
LOG_TAIL_LINES = 100


def warm_up_for_fixed_time(generator: LoadGenerator, job: Job, death: Callable[[], str | None], place: LoadPlace = HERE) -> None:
    """Run a separate warm-up for a generator that can't warm up in the measuring process.

    Raises :class:`LoadError` if the warm-up doesn't end.
    """
    messages = deque[str](maxlen=LOG_TAIL_LINES)
    with place.start(generator, job, warmup=True) as running:
        lines = StderrLines(running)
        deadline = time.monotonic() + job.load.warmup_s + job.load.timeout_s + SLACK_S
        while (arrived := lines.arrived()) is not None:
            messages.extend(arrived)
            if death() is not None:
                return
            if time.monotonic() > deadline:
                raise LoadError(f"{generator.name} did not end its warm-up", log_tail="\n".join([*messages, lines.rest]).strip() or None)


def warm_up_until_steady(
    job: Job, death: Callable[[], str | None], report: Callable[[Progress], None], place: LoadPlace = HERE
) -> Settling:
    """Load a target until its throughput is steady, for at most the load's ``warmup_max_s`` minus its ``warmup_s``.

    If the target dies, return early; the caller reports the death. Raises :class:`LoadError` if the generator fails or hangs.
    """
    from httpbench.stats.steady import is_warm

    generator, own = place.native(), _warmup_job(job)
    assert generator is not None, "without it, each load generator warms up itself"
    windows: list[float] = []
    messages: list[str] = []
    rate_rps = own.load.rate_rps
    deadline = time.monotonic() + own.load.duration_s + own.load.timeout_s + SLACK_S
    with place.start(generator, own, warmup=False) as running:
        lines = StderrLines(running)
        while death() is None and not is_warm(windows, WINDOW_S, rate_rps) and (arrived := lines.arrived()) is not None:
            if time.monotonic() > deadline:
                raise LoadError(f"{generator.name} did not end its warm-up of {own.load.duration_s:g} s")
            windows += [rate for line in arrived if (rate := _rate(generator, line, report)) is not None]
            messages += [line for line in arrived if generator.progress(line) is None]
        exits = tuple(running.exits())  # before ``stop()`` ends the generator
        running.stop()
    if exits and exits[0].code != 0 and death() is None:
        output = Output("", "\n".join([*messages, lines.rest]), exits[0].code)
        raise LoadError(f"{generator.name} {output.ending} during the warm-up", log_tail=output.tail or None)
    return Settling(window_s=WINDOW_S, throughput_rps=tuple(windows), is_steady=is_warm(windows, WINDOW_S, rate_rps))


def _warmup_job(job: Job) -> Job:
    """Return the job of the warm-up: the same load with constant arrivals, for the maximum time.

    A rising rate stays at its first step. The warm-up of an overload offers half of the peak, so that no requests are left over from it.
    """
    given = job.load
    assert given.warmup_max_s is not None
    rate = given.rate_from_rps or given.rate_rps
    if rate is not None and given.share_of_peak is not None and given.is_overload:
        rate *= OVERLOAD_WARMUP_SHARE / given.share_of_peak
    flat = {"arrivals": Arrivals.CONSTANT, "rate_rps": rate, "rate_from_rps": None, "rate_step_rps": None, "step_s": None}
    time_limits = {"duration_s": given.warmup_max_s - given.warmup_s, "warmup_s": 0.0, "warmup_max_s": None}
    return replace(job, load=given.model_copy(update={**flat, **time_limits}), interval_s=WINDOW_S)


def _rate(generator: LoadGenerator, line: str, report: Callable[[Progress], None]) -> float | None:
    """Report a completed window as warm-up progress and return its throughput, or return ``None`` for any other line."""
    progress = generator.progress(line)
    if progress is None or progress.phase is not Phase.MEASURE or progress.elapsed_s == 0:
        return None
    report(replace(progress, phase=Phase.WARMUP))
    return progress.throughput_rps
