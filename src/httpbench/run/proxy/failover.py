"""Run one trial of a proxy in front of two backends, one of which fails and later returns.

The first backend works all the time. The second one stalls or dies at a set time of the measurement. Both are copies of the workload's
backend and share its cores.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Self

from httpbench.load import Phase, Progress
from httpbench.model import Fault, Load, Trial
from httpbench.run.observer import Observer, Stage
from httpbench.run.proxy.backend import in_front_of, started_backend, with_backend
from httpbench.run.proxy.handled import Handled, handled_by
from httpbench.run.trial.frame import folders_in
from httpbench.run.trial.inputs import TrialInputs
from httpbench.run.trial.running import RunningTarget
from httpbench.run.trial.start import start
from httpbench.run.trial.steps import measure
from httpbench.run.trial.verdict import with_incident
from httpbench.stats.failover import Count, SeenBackend, failover, problems

COUNTED_EVERY_S = 0.1
"""Time between two counts of the second backend's requests, in seconds."""


def measure_failover(inputs: TrialInputs, scratch: Path, observer: Observer) -> Trial:
    """Run a trial in which the second backend fails. ``scratch`` must be an empty folder."""
    assert inputs.backend is not None, "a proxy is measured in front of a backend"
    folders_in(scratch, "backend", "second", "second-again", "target", "generator")
    observer.stage(Stage.START)
    upstream, counter = inputs.backend, inputs.backend.target.counter

    def backend(folder: str, port: int | None = None) -> AbstractContextManager[RunningTarget]:
        return started_backend(upstream, inputs.workload, scratch / folder, inputs.start_limit_s, inputs.address, port=port)

    with backend("backend") as first, FailingBackend(backend, inputs.plan.load, counter) as second:
        place = replace(in_front_of(first, inputs, scratch / "target"), second_backend=(second.running.host, second.running.port))
        with start(inputs.target, inputs.plan.scaling, inputs.workload, place) as running:
            trial = measure(inputs, running, scratch / "generator", observer, first, heard=second.heard)
        second.end()
        death = first.death() or second.running.death()
        own = None if death else handled_by(first, counter)
        handled = own + second.handled() if own else None
        if not death:
            first.stop()
            second.running.stop()
        seen = second.observation()
    trial, measurement = with_backend(trial, inputs.target.mode, handled, death), trial.measurement
    if measurement is None or seen is None:
        return trial
    for problem in problems(inputs.plan.load, measurement, seen):
        trial = with_incident(trial, problem)
    return trial.model_copy(update={"failover": failover(inputs.plan.load, measurement, seen)})


class FailingBackend:
    """The second backend, which fails and returns at the times of the load. Use it as a context manager.

    A thread counts its requests, and lets it fail and return. The times begin with the first progress report of the measurement.
    """

    def __init__(self, backend: Callable[[str, int | None], AbstractContextManager[RunningTarget]], load: Load, counter: str | None):
        assert load.fault_at_s is not None and load.fault_s is not None and load.rate_rps is not None, "the load has a fault"
        self._backend, self._load, self._counter = backend, load, counter
        self._fails_s, self._broken_s = load.fault_at_s, load.fault_s
        self._stack = ExitStack()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._fail_and_return, daemon=True)
        self._error: Exception | None = None
        self._began_s = math.inf
        """Start of the measurement, in seconds on the monotonic clock, as the earliest time that progress reports allow."""
        self._failed_s, self._returned_s = math.inf, math.inf
        self._before: list[Count] = []
        self._after: list[Count] = []
        self._queries = 0
        """Number of queries since the backend's last start."""

    def __enter__(self) -> Self:
        self.running = self._stack.enter_context(self._backend("second", None))
        return self

    def __exit__(self, *_: object) -> None:
        self._join()
        self._stack.close()

    def heard(self, progress: Progress) -> None:
        """Note when the measurement began, and begin to count."""
        if progress.phase is not Phase.MEASURE:
            return
        is_first = math.isinf(self._began_s)
        self._began_s = min(self._began_s, time.monotonic() - progress.elapsed_s)
        if is_first:
            self._thread.start()

    def end(self) -> None:
        """Stop counting. Raises the error of the thread, if there is one."""
        self._join()
        if self._error is not None:
            raise self._error

    def _join(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def handled(self) -> Handled:
        """Return how many requests the backend has handled.

        A backend that was killed may have handled more requests than it reported before. Their number is at most the number of requests
        that were due in the meantime.
        """
        requests = self._after[-1].requests if self._after else 0
        if self._load.fault is Fault.DEATH and self._before:
            last = self._before[-1]
            requests += last.requests + math.ceil((self._failed_s - last.at_s) * (self._load.rate_rps or 0.0))
        return Handled(connections=0, requests=requests)

    def observation(self) -> SeenBackend | None:
        """Return what was observed, or ``None`` if the measurement ended before the backend had failed and returned."""
        if math.isinf(self._returned_s):
            return None
        before, after = ([replace(each, at_s=each.at_s - self._began_s) for each in counts] for counts in (self._before, self._after))
        within = [each for each in after if each.at_s <= self._load.duration_s]
        return SeenBackend(self._failed_s - self._began_s, self._returned_s - self._began_s, before, within)

    def _fail_and_return(self) -> None:
        try:
            self._count_until(self._fails_s, self._before)
            if self._ended.is_set():
                return
            self._failed_s = time.monotonic()
            self._fail()
            if self._ended.wait(self._failed_s + self._broken_s - time.monotonic()):
                return
            self._return()
            self._returned_s = time.monotonic()
            self._count_until(math.inf, self._after)
        except Exception as error:  # `end` raises it in the thread of the trial
            self._error = error

    def _fail(self) -> None:
        if self._load.fault is Fault.STALL:
            self.running.freeze()
        else:
            self._stack.close()  # kills the processes

    def _return(self) -> None:
        if self._load.fault is Fault.STALL:
            self.running.thaw()
        else:
            self._queries = 0
            self.running = self._stack.enter_context(self._backend("second-again", self.running.port))

    def _count_until(self, end_s: float, counts: list[Count]) -> None:
        """Count requests now and then regularly, for the last time at this time of the measurement."""
        left_s = math.inf
        while left_s > 0 and not self._ended.is_set():
            left_s = self._began_s + end_s - time.monotonic()
            at_s, handled = time.monotonic(), handled_by(self.running, self._counter)
            if handled is not None:
                self._queries += 1
                counts.append(Count(at_s, handled.requests - self._queries))
            self._ended.wait(min(max(left_s, 0.0), COUNTED_EVERY_S))
