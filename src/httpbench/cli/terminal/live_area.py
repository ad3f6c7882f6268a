"""Progress of a run on a terminal: a few lines that are redrawn in place.

    ━━━━━━━━━━━━━━━━━━╸                    12/36 trials · 4m 10s left
    c/nginx · single, 64 connections · round 2 · measuring 3.2 s
    251,002/s ▆▇▇█▇▇▆▇█▇ p99 0.609 ms · target 62% CPU, 9 MB
    last: c/epoll/level: 409,871 requests/s, p50 0.149 ms, p99 0.372 ms, 99% CPU

A trial without valid results is also reported on a permanent line above these lines.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from httpbench.cli.terminal.progress import Lines, clock, load_of, number_text, outcome, usually
from httpbench.errors import HttpbenchError
from httpbench.load import Phase, Progress, SliceReport
from httpbench.model import Target, Trial, TrialPlan
from httpbench.report.words.numbers import three_digits
from httpbench.run import Stage
from httpbench.sample import Current
from httpbench.text import one_line

REFRESH_PER_S = 4  # looks live, but uses little CPU time
BAR_MAX = 60
SPARKS = "▁▂▃▄▅▆▇█"
SPARKS_MIN, SPARKS_MAX = 8, 60

PHASES = {Phase.CONNECT: "connecting", Phase.WARMUP: "warming up", Phase.MEASURE: "measuring", Phase.DONE: "measured"}


class LiveArea(Lines):
    """A live display of the progress. Each refresh reads the current usage of the target. ``now`` returns the time in seconds."""

    def __init__(self, console: Console, now: Callable[[], float] = time.monotonic):
        super().__init__(lambda line: console.print(line, soft_wrap=True), now)
        self._console = console
        self._lock = threading.Lock()  # builds report from their own threads
        self._building: dict[str, tuple[float, float | None]] = {}
        """When each running build began, and how long it usually takes, in seconds, by the name of the build."""
        self._last = ""
        self._plan: TrialPlan | None = None
        self._done = 0
        self._total: int | None = None
        self._run_began: float | None = None
        self._doing, self._since = "", 0.0
        self._seen: Progress | None = None
        self._rates: tuple[float, ...] = ()
        self._read: Callable[[], Current] | None = None
        self._slices: dict[int, tuple[float, ...]] = {}
        """Throughput of the finished slices of each running trial, by trial number."""

    def build_started(self, target: Target, usual_s: float | None) -> None:
        with self._lock:
            self._building = {**self._building, target.build_name: (self._now(), usual_s)}

    def build_ended(self, target: Target, seconds: float, error: HttpbenchError | None) -> None:
        with self._lock:
            self._building = {name: times for name, times in self._building.items() if name != target.build_name}
            super().build_ended(target, seconds, error)

    def trial_started(self, plan: TrialPlan, done: int, total: int | None, left_s: float) -> None:
        super().trial_started(plan, done, total, left_s)
        self._plan, self._done, self._total = plan, done, total
        self._run_began = self._now() if self._run_began is None else self._run_began
        self.stage(Stage.START)

    def stage(self, stage: Stage) -> None:
        self._enter(stage)

    def profiling(self, plan: TrialPlan) -> None:
        self._plan = plan
        self._enter("profiling")

    def turn(self, plan: TrialPlan, slice_number: int, slices: int, last: SliceReport | None) -> None:
        """Show the results of the target's earlier slices. The current slice is too short to be shown while it is measured."""
        self._plan = plan
        self._enter(f"slice {slice_number}/{slices}")
        if last is not None:
            self._seen = Progress(Phase.MEASURE, last.duration_s, last.throughput_rps, last.p50_us, last.p99_us)
            self._rates = (*self._slices.get(plan.number, ()), last.throughput_rps)[-SPARKS_MAX:]
            self._slices[plan.number] = self._rates

    def progress(self, progress: Progress, current: Callable[[], Current] | None = None) -> None:
        if self._seen is None or self._seen.phase is not progress.phase:
            self._enter(PHASES[progress.phase])
        self._seen, self._read = progress, None if progress.phase is Phase.DONE else current
        if progress.throughput_rps:  # a phase that has just started has no throughput yet
            self._rates = (*self._rates, progress.throughput_rps)[-SPARKS_MAX:]

    def trial_ended(self, trial: Trial) -> None:
        self._slices.pop(trial.plan.number, None)
        self._last = f"last: {trial.plan.target}: {outcome(trial)}"
        place = self._place(trial)
        if not trial.verdict.counts:
            self._console.print(_line(f"{place}: {outcome(trial)}"))  # the report shows the full reason as a note

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        width = options.max_width
        if self._building:
            now_s = self._now()
            builds = (f"{name} for {now_s - began_s:.0f} s{usually(usual_s)}" for name, (began_s, usual_s) in self._building.items())
            yield _line(f"building {'; '.join(builds)} …")
        if self._plan is not None:
            yield self._overall(width)
            yield _line(self._trial(self._plan))
            yield _line(self._figures(width))
        if self._last:
            yield _line(self._last, style="dim")

    def _enter(self, doing: str) -> None:
        """Begin a stage of the trial, and discard the measurements of the previous stage."""
        self._doing, self._since = doing, self._now()
        self._seen, self._rates, self._read = None, (), None

    def _overall(self, width: int) -> RenderableType:
        if self._total is None:
            return _line(" · ".join(filter(None, (f"trial {number_text(self._done, self._trials_max)}", self._search))))
        left_s = self._left_s
        words = f"{self._done}/{self._total} trials · {clock(left_s)} left"
        elapsed_s = self._now() - (self._run_began or 0)
        share = elapsed_s / (elapsed_s + left_s) if elapsed_s + left_s else 0.0
        line = Table.grid(padding=(0, 1))
        line.add_row(ProgressBar(total=1, completed=share, width=max(min(BAR_MAX, width - len(words) - 2), 1)), Text(words, no_wrap=True))
        return line

    def _trial(self, plan: TrialPlan) -> str:
        turn = f"round {plan.round + 1}" + (f", repeat {plan.attempt}" if plan.attempt else "")
        elapsed_s = self._seen.elapsed_s if self._seen and self._seen.phase is Phase.MEASURE else None
        return f"{plan.target} · {load_of(plan, elapsed_s)} · {turn} · {self._doing} {self._now() - self._since:.1f} s"

    def _figures(self, width: int) -> str:
        seen, read = self._seen, self._read
        if seen is None or not self._rates:
            return ""
        rate = f"{self._rates[-1]:,.0f}/s"
        parts = [f"p99 {three_digits(seen.p99_us / 1000)} ms"] if seen.p99_us is not None else []
        parts += [f"target {read()}"] if read else []
        words = " · ".join(parts)
        room = max(min(width - len(rate) - len(words) - 2, SPARKS_MAX), SPARKS_MIN)
        return f"{rate} {sparkline(self._rates[-room:])} {words}"


def sparkline(values: Sequence[float]) -> str:
    """Draw one character for each value, scaled from zero to the highest."""
    highest = max(values, default=0)
    return "".join(SPARKS[round(value / highest * (len(SPARKS) - 1))] if highest else SPARKS[0] for value in values)


def _line(text: str, style: str = "") -> Text:
    return Text(one_line(text), style=style, no_wrap=True, overflow="ellipsis")
