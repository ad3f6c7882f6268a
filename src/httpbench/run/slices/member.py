"""One target of a round in slices. It is started, warmed up, measured in each of its turns, and frozen between turns."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from httpbench.errors import HttpbenchError
from httpbench.host.scratch import scratch_folder
from httpbench.load import Native, SliceReport
from httpbench.model import Load, Observed, Settling, Trial
from httpbench.run.load.generator import UnderLoad, measured
from httpbench.run.load.meters import Meters, Subject
from httpbench.run.load.slice_generator import SliceGenerator
from httpbench.run.load.warmup import WINDOW_S
from httpbench.run.observer import Observer, Stage
from httpbench.run.slices.lead_in import lead_in_s
from httpbench.run.slices.started import HandledInTurns, SharedBackend, finished, started
from httpbench.run.trial.frame import failed, folders_in
from httpbench.run.trial.inputs import TrialInputs
from httpbench.run.trial.steps import Ready, concluded, prepared
from httpbench.stats.slices import Slice, combined, is_disturbed

if TYPE_CHECKING:
    from httpbench.run.slices.recorder import Recorder

LAST_WINDOWS = 5
"""Number of windows at the end of the warm-up that are searched for the slowest response. Earlier responses can be slow because the target
is still cold."""

LONG_DRAIN_S_MIN = 0.5
"""Minimum length of a long drain, in seconds. Shorter ones may be due to other programs."""


@dataclass(frozen=True, slots=True)
class _Started:
    """A warmed-up target with its connected load generator."""

    ready: Ready
    subject: Subject
    settling: Settling | None
    generator: SliceGenerator
    meters: Meters
    command: tuple[str, ...]


class Member:
    """A target of the round. As a context manager, it ends everything that it started.

    After an error, the target takes no more turns, and its trial contains the reason. ``recorder`` records the target's profile, unless it
    is ``None``.
    """

    def __init__(self, inputs: TrialInputs, observer: Observer, backend: SharedBackend, recorder: Recorder | None = None):
        self.plan = inputs.plan
        self._recorder = recorder
        self._inputs, self._observer = inputs, observer
        self._window_s = inputs.plan.load.duration_s / (inputs.plan.slices or 1)
        self._handled = HandledInTurns(backend)
        self._stack = ExitStack()
        self._started: _Started | None = None
        self._failure: HttpbenchError | OSError | None = None
        self._death: str | None = None
        self._slices: list[Slice] = []
        self._last: Slice | None = None
        self.last_report: SliceReport | None = None
        """The load generator's report of the last slice. ``None`` before the first slice, or if the target ended during the last one."""
        self._dropped = 0
        self._longest_s = 0.0
        """Time of the slowest response so far, in seconds."""
        self.has_long_drain = False
        """Whether the last responses of each slice would take longer than the slice itself. If so, the target was stopped."""
        self._random = random.Random(self.plan.number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    @property
    def takes_turns(self) -> bool:
        """Whether the target can be measured: it has started, and has neither failed nor ended."""
        return self._started is not None and self._failure is None and self._death is None

    @property
    def has_results(self) -> bool:
        """Whether at least one slice was kept."""
        return bool(self._slices)

    @property
    def inputs_without_turns(self) -> TrialInputs:
        """Inputs of a whole trial of the target, in place of its slices."""
        return replace(self._inputs, plan=self.plan.model_copy(update={"slices": None}))

    def open(self) -> None:
        """Start the target, connect its load generator, warm the target up, and freeze it. If its drain is long, stop it instead."""
        try:
            started = self._start()
            if self.has_long_drain:
                self._stack.close()
                return
            started.ready.running.freeze()
            self._started = started
        except (HttpbenchError, OSError) as error:
            self._fail(error)

    def _start(self) -> _Started:
        observer, load = self._observer, self.plan.load
        scratch = self._stack.enter_context(scratch_folder())
        own, for_generator = folders_in(scratch, "target", "generator")
        observer.stage(Stage.START)
        inputs, subject = self._stack.enter_context(started(self._inputs, own, self._handled.backend))
        running = subject.target
        ready = prepared(inputs, running, for_generator, in_slices=True)
        native = ready.inputs.load_generator
        assert isinstance(native, Native), "only the native load generator measures in slices"
        with self._handled.counting():  # the generator connects as soon as it starts
            launched = self._stack.enter_context(self._inputs.load_place.start(native, ready.job, warmup=False))
            generator = SliceGenerator(native, ready.job, launched, running.death, observer.progress)
            generator.connect()
            observer.stage(Stage.WARM_UP)
            settling, last = _warmed_up(generator, load, self._window_s)
        self._longest_s = max((report.max_us or 0.0 for report in last), default=0.0) / 1e6
        running.require_alive("during the warm-up")
        self.has_long_drain = _have_long_drain(last, self._window_s)
        if self._recorder and not self.has_long_drain:
            self._stack.enter_context(self._recorder.attached(running, self.plan.cores))
        meters = Meters(subject, launched)
        return _Started(ready, subject, settling, generator, meters, native.argv(ready.job, warmup=False))

    def take_turn(self) -> None:
        """Thaw the target, measure one slice, and freeze it again."""
        assert self._started is not None, "it takes turns"
        running, meters = self._started.ready.running, self._started.meters
        lead_s = lead_in_s(self._longest_s, self._window_s, self._random)
        self._last = None
        try:
            meters.begin()
            try:
                running.thaw()
                recording = self._recorder.slice(lead_s + self._window_s) if self._recorder else nullcontext()
                with self._handled.counting(), recording:
                    report = self.last_report = self._started.generator.slice(lead_s, self._window_s)
                self._death = running.death()
                if self._death is None:
                    running.freeze()
            finally:
                observed = meters.read()  # also stops the samplers
        except (HttpbenchError, OSError) as error:
            self._fail(error)
            return
        if report is not None:
            self._longest_s = max(self._longest_s, (report.max_us or 0.0) / 1e6)
            ran_s = lead_s + report.duration_s + report.drain_us / 1e6
            self._last = Slice(observed, report.duration_s, ran_s, report.counted_share)
            if self._recorder:
                self._recorder.keep(report, observed)

    @property
    def was_disturbed(self) -> bool:
        """Whether other programs disturbed the last slice."""
        return self._started is not None and self._last is not None and is_disturbed(self._last, self._started.ready.inputs.plan)

    def keep(self) -> None:
        """Add the last slice to the results."""
        if self.takes_turns and self._last is not None:
            self._slices.append(self._last)

    def drop(self) -> None:
        """Discard the last slice."""
        if self.takes_turns and self._started is not None and self._last is not None:
            try:
                self._started.generator.drop()
            except (HttpbenchError, OSError) as error:
                self._fail(error)
            self._dropped += 1

    def _fail(self, error: HttpbenchError | OSError) -> None:
        """End the target and its load generator after an error."""
        self._failure, self._last = error, None
        self._stack.close()

    def conclude(self) -> Trial:
        """End the load, check the target, stop it, and return its trial."""
        if self._failure is None:
            try:
                return self._concluded()
            except (HttpbenchError, OSError) as error:
                self._failure = error
            finally:
                self._stack.close()
        return failed(self.plan, self._inputs.started_at, self._failure)

    def _concluded(self) -> Trial:
        assert self._started is not None, "it has started, or it has failed"
        ready, running = self._started.ready, self._started.ready.running
        self._death = self._death or running.death()
        if self._death is None:
            running.thaw()
        output = self._started.generator.end()
        if self._recorder and self._death is None:
            self._recorder.finish(self.plan)
        measurement = measured(ready.inputs.load_generator, ready.job, output, self._death, self._started.subject)
        observed = combined(self._slices, self._dropped) if self._slices else Observed()
        under_load = UnderLoad(measurement, observed, self._death, self._started.command)
        trial = concluded(ready, self._started.settling, under_load, self._observer)
        return finished(trial, ready.inputs, self.plan, self._handled)


def _warmed_up(generator: SliceGenerator, load: Load, slice_s: float) -> tuple[Settling | None, Sequence[SliceReport]]:
    """Warm the target up, on the connections of the measurement, for a fixed time or until its throughput is steady.

    A long drain ends the warm-up. Returns how the throughput settled, or ``None`` if the time was fixed. Also returns the reports of the
    last ``LAST_WINDOWS`` windows. There are none if the target ended or had no warm-up.
    """
    from httpbench.stats.steady import is_warm

    reports: list[SliceReport] = []

    def warm_up(duration_s: float) -> bool:
        if report := generator.warm_up(duration_s):
            reports.append(report)
        return report is not None

    settling = None
    if load.warmup_max_s is None:
        if load.warmup_s:
            warm_up(load.warmup_s)
    else:
        windows: list[float] = []
        while len(windows) * WINDOW_S < load.warmup_max_s and not is_warm(windows, WINDOW_S, load.rate_rps) and warm_up(WINDOW_S):
            windows.append(reports[-1].throughput_rps)
            if len(windows) > 1 and _have_long_drain(reports, slice_s):
                break
        settling = Settling(window_s=WINDOW_S, throughput_rps=tuple(windows), is_steady=is_warm(windows, WINDOW_S, load.rate_rps))
    return settling, reports[-LAST_WINDOWS:]


def _have_long_drain(reports: Sequence[SliceReport], slice_s: float) -> bool:
    """Return whether the drains after the last two windows were long. One long drain may be due to a cold target."""
    return bool(reports) and min(report.drain_us for report in reports[-2:]) > max(slice_s, LONG_DRAIN_S_MIN) * 1e6
