"""What the sequencer reports while it works: to a terminal's live area, to plain lines in a log, or to a test."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from httpbench.errors import HttpbenchError
from httpbench.load import Progress
from httpbench.model import Reason, Target, Trial, TrialPlan
from httpbench.sample import Current


class Stage(StrEnum):
    """What is being done to a target."""

    START = "starting"
    PROVE = "proving"
    WARM_UP = "warming up"
    MEASURE = "measuring"
    STOP = "stopping"


class Observer(Protocol):
    """Learns of each build, trial and stage as it begins or ends."""

    def build_started(self, target: Target) -> None: ...

    def build_ended(self, target: Target, seconds: float, error: HttpbenchError | None) -> None: ...

    def trial_started(self, planned: TrialPlan, done: int, total: int | None, left_s: float) -> None:
        """``total``: ``None`` if unknown. ``left_s``: an estimate for this trial and all that follow."""

    def stage(self, stage: Stage) -> None: ...

    def progress(self, progress: Progress, current: Callable[[], Current] | None = None) -> None:
        """``current``: reads what the target costs at this moment; ``None``: it is not sampled."""

    def trial_ended(self, trial: Trial) -> None: ...

    def warning(self, warning: str | Reason) -> None: ...
