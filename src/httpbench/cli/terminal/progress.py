"""Progress of a run as plain lines on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from httpbench.errors import HttpbenchError
from httpbench.load import Progress, SliceReport
from httpbench.model import Kind, Load, Reason, Target, Trial, TrialPlan, VerdictKind
from httpbench.report.words.numbers import three_digits
from httpbench.report.words.reasons import joined, sentence
from httpbench.run import Stage
from httpbench.text import one_line

if TYPE_CHECKING:
    from httpbench.sample import Current
    from httpbench.stats.search import Bounds

MENTIONED_S = 2.0
"""Minimum duration of a build whose usual duration is printed, in seconds."""


class Lines:
    """A progress display with a plain line for each build and each finished trial, for logs and pipes.

    ``say`` prints a line. ``now`` returns the time in seconds.
    """

    def __init__(self, say: Callable[[str], None], now: Callable[[], float] = time.monotonic):
        self._print = say
        self._now = now
        self._places: dict[int, str] = {}
        self._ends_s: float | None = None
        """Estimated time at which the run ends, or ``None`` if unknown."""
        self._is_last = False
        """Whether no planned trial comes after those that have started."""
        self._search = ""
        self._trials_max: int | None = None

    def planned(self, words: str) -> None:
        """Print how many trials are planned, and how long they take."""
        self._say(words)

    def build_started(self, target: Target, usual_s: float | None) -> None:
        self._say(f"building {target.build_name}{usually(usual_s)} …")

    def build_ended(self, target: Target, seconds: float, error: HttpbenchError | None) -> None:
        self._say(
            f"building {target.build_name} failed after {seconds:.0f} s: {error.message}"
            if error
            else f"built {target.build_name} in {seconds:.0f} s"
        )

    def trial_started(self, plan: TrialPlan, done: int, total: int | None, left_s: float) -> None:
        number = (
            f"repeat {plan.attempt}" if plan.attempt else number_text(done, self._trials_max) if total is None else f"{done + 1}/{total}"
        )
        self._places[plan.number] = f"[{number}] {plan.target} {load_of(plan)}, round {plan.round + 1}"
        self._ends_s = None if total is None else self._now() + left_s
        self._is_last = done + 1 == total

    def searching(self, known: Bounds, trials_max: int, left_s: float | None) -> None:
        self._search, self._trials_max = search_text(known, left_s), trials_max

    def stage(self, stage: Stage) -> None:
        pass

    def turn(self, plan: TrialPlan, slice_number: int, slices: int, last: SliceReport | None) -> None:
        pass

    def progress(self, progress: Progress, current: Callable[[], Current] | None = None) -> None:
        pass

    def trial_ended(self, trial: Trial) -> None:
        before = f" ({self._search})" if self._search else ""
        left = f" · {clock(self._left_s)} left" if self._left_s and not self._is_last else ""
        self._say(f"{self._place(trial)}{before}: {outcome(trial)}{left}")

    @property
    def _left_s(self) -> float:
        """Estimated rest of the run, in seconds; 0 if unknown."""
        return 0.0 if self._ends_s is None else max(self._ends_s - self._now(), 0.0)

    def _place(self, trial: Trial) -> str:
        """Return and delete the description of a trial that :meth:`trial_started` stored."""
        return self._places.pop(trial.plan.number)

    def profiling(self, plan: TrialPlan) -> None:
        self._say(f"[profile] {plan.target} {load_of(plan)}")

    def not_profiled(self, trial: Trial) -> None:
        last = f": {trial.log_tail.splitlines()[-1]}" if trial.log_tail else ""
        self._say(f"warning: {trial.plan.target} was not profiled: {joined(trial.verdict.reasons)}{last}")

    def warning(self, warning: str | Reason) -> None:
        self._say(f"warning: {sentence(warning) if isinstance(warning, Reason) else warning}")

    def _say(self, text: str) -> None:
        self._print(one_line(text))


def usually(seconds: float | None) -> str:
    """Return the text after the name of a build that has begun. It is empty if the build takes no time worth mentioning."""
    return f", usually {seconds:.0f} s" if seconds and seconds >= MENTIONED_S else ""


def load_of(plan: TrialPlan, elapsed_s: float | None = None) -> str:
    """Describe the parts of the load that distinguish a trial from other trials of the same target.

    ``elapsed_s`` is the time since the start of the measurement. It determines the current step of a rising rate.
    """
    if plan.target.startswith(f"{Kind.CLIENT}:"):
        return plan.workload
    rate = f", {_offered(plan.load, elapsed_s)} requests/s offered" if plan.load.rate_rps else ""
    return f"{plan.scaling}, {plan.load.connections} connections{rate}"


def number_text(done: int, trials_max: int | None) -> str:
    """Return the number of a trial in a run whose number of trials is unknown: ``7 of at most 200``."""
    return f"{done + 1}" if trials_max is None else f"{done + 1} of at most {trials_max:,}"


def search_text(known: Bounds, left_s: float | None) -> str:
    """Describe a running search: ``holds at 9,000, fails at 9,500, at most 2m 10s left``."""
    parts = [f"holds at {known.lower:,g}"] if known.lower is not None else []
    parts += [f"fails at {known.upper:,g}"] if known.upper is not None else []
    parts += [f"at most {clock(left_s)} left"] if left_s is not None else []
    return ", ".join(parts)


def _offered(load: Load, elapsed_s: float | None) -> str:
    """Return the offered rate: of the current step of a rising rate, else its first and last rate, else the only rate."""
    if load.step_s is None or load.rate_from_rps is None:
        return f"{load.rate_rps:,g}"
    begun = [] if elapsed_s is None else [level for level in load.levels if level.start_s <= elapsed_s]
    if not begun:
        return f"{load.rate_from_rps:,g} to {load.rate_rps:,g}"
    return f"step {len(begun)}/{len(load.levels)}, {begun[-1].rate_rps:,g}"


def outcome(trial: Trial) -> str:
    """Summarize a trial in a few words."""
    from httpbench.stats.steady import not_shown_steady, unsteady

    if trial.verdict.counts and trial.client is not None:
        rate = trial.client.requests_rps
        return f"{trial.client.whole.wall_s * 1000:,.1f} ms" + (f", {rate:,.0f} requests/s without start-up" if rate else "")
    if not trial.verdict.counts or trial.measurement is None:
        return f"{trial.verdict.kind}: {joined(trial.verdict.reasons)}"
    if trial.startup is not None:
        steady = f", steady after {trial.startup.steady_s:.1f} s" if trial.startup.steady_s is not None else ""
        return f"ready after {three_digits(trial.startup.ready_s * 1000)} ms{steady}, {trial.verdict.kind}"
    if (found := trial.failover) is not None:
        avoided = f"avoided after {found.avoided_s:.1f} s" if found.avoided else "not avoided"
        return f"{found.failed:,} failed, {avoided}, {trial.verdict.kind}"
    steps = trial.measurement.steps  # as in the table, the results of a rising rate are those of its last step
    rate_rps = steps[-1].completed / steps[-1].duration_s if steps else trial.measurement.throughput_rps
    events = trial.measurement.events
    parts = [f"{rate_rps:,.0f} {'events' if events else 'requests'}/s"]
    for name in ("p50", "p99"):
        time_us = getattr(trial.measurement.times_us, name, None)  # some load generators report no times
        if time_us is not None:
            parts.append(f"{'first event ' if events else ''}{name} {three_digits(time_us / 1000)} ms")
    if trial.observed.target_usage:
        parts.append(f"{trial.observed.target_usage.cpu_cores_mean * 100:.0f}% CPU")
    if unsteady(trial):
        parts.append("not steady")
    elif not_shown_steady(trial):
        parts.append("not shown to be steady")
    if trial.verdict.kind is not VerdictKind.TARGET:
        parts.append(str(trial.verdict.kind))  # `--explain` shows the reason
    return ", ".join(parts)


def clock(seconds: float) -> str:
    """Format a duration as, for example, ``1h 05m``, ``2m 30s`` or ``12s``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {rest:02}s" if minutes else f"{rest}s"
