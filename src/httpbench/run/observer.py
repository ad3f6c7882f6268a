"""The interface through which a run reports its progress to a live display, a log or a test."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from httpbench.errors import HttpbenchError
from httpbench.load import Progress, SliceReport
from httpbench.model import Reason, Target, Trial, TrialPlan
from httpbench.sample import Current
from httpbench.stats.search import Bounds


class Stage(StrEnum):
    """A step of a trial, with its name in the live display."""

    START = "starting"
    PROVE = "proving"
    WARM_UP = "warming up"
    MEASURE = "measuring"
    REST = "resting"
    STOP = "stopping"


class Observer(Protocol):
    """An object that is notified when a build, a trial or a stage begins or ends."""

    def build_started(self, target: Target, usual_s: float | None) -> None:
        """Report the start of a build that usually takes ``usual_s`` seconds, or an unknown time."""

    def build_ended(self, target: Target, seconds: float, error: HttpbenchError | None) -> None: ...

    def trial_started(self, planned: TrialPlan, done: int, total: int | None, left_s: float) -> None:
        """Report the start of a trial. ``left_s`` estimates the rest of the run, including this trial, in seconds.

        ``done`` and ``total`` are numbers of trials. ``total`` is ``None`` if unknown.
        """

    def searching(self, known: Bounds, trials_max: int, left_s: float | None) -> None:
        """Report the interval that a search has found so far, before each of its trials.

        ``left_s`` is the maximum duration of the rest of the search, in seconds, or ``None`` if it is unlimited.
        """

    def stage(self, stage: Stage) -> None: ...

    def turn(self, planned: TrialPlan, slice_number: int, slices: int, last: SliceReport | None) -> None:
        """Report that the next slice of a target begins. ``slice_number`` counts from 1. ``last`` reports the target's previous slice."""

    def progress(self, progress: Progress, current: Callable[[], Current] | None = None) -> None:
        """Report progress. ``current`` reads the target's current use of resources, and is ``None`` if the target isn't sampled."""

    def trial_ended(self, trial: Trial) -> None: ...

    def profiling(self, planned: TrialPlan) -> None:
        """Report that a target is about to be profiled. Its trial doesn't count, and isn't reported otherwise."""

    def not_profiled(self, trial: Trial) -> None:
        """Report a trial that should have given a profile, but failed or is invalid."""

    def warning(self, warning: str | Reason) -> None: ...
