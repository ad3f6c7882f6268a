"""A load generator that stays connected to its target for a whole round, and loads it in slices on command."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from httpbench.errors import LoadError
from httpbench.load import Job, Native, Output, Progress, SliceReport
from httpbench.run.load.lines import StderrLines
from httpbench.run.load.place import RunningGenerator

SLACK_S = 15.0
"""Time for connecting, reporting and ending, in seconds, in addition to the load's own time."""
LOG_LINES = 15

Found = TypeVar("Found")


class SliceGenerator:
    """A running load generator that measures in slices.

    ``death`` returns how the target ended, or ``None`` if it is running. Once the target has ended, every wait returns ``None`` early.
    """

    def __init__(
        self, generator: Native, job: Job, running: RunningGenerator, death: Callable[[], str | None], report: Callable[[Progress], None]
    ):
        self._generator, self._job, self.running, self._death, self._report = generator, job, running, death, report
        self._lines, self._unread = StderrLines(running), deque[str]()
        self._messages: list[str] = []

    def connect(self) -> bool | None:
        """Wait until the load generator is connected."""
        return self._wait(lambda line: self._generator.is_ready(line) or None, self._job.load.timeout_s)

    def warm_up(self, duration_s: float) -> SliceReport | None:
        """Load the target for ``duration_s`` seconds without counting the responses."""
        self.running.order(f"warmup {duration_s * 1000:g}")
        return self._wait(self._generator.slice_report, duration_s + self._job.load.timeout_s)

    def slice(self, lead_in_s: float, window_s: float) -> SliceReport | None:
        """Measure one slice, and wait until no request is in flight."""
        self.running.order(f"slice {lead_in_s * 1000:g} {window_s * 1000:g}")
        return self._wait(self._generator.slice_report, lead_in_s + window_s + self._job.load.timeout_s)

    def drop(self) -> None:
        """Discard the last slice."""
        self.running.order("drop")

    def end(self) -> Output:
        """End the load, and return the generator's output."""
        if self._death() is None:
            self.running.order("end")
            self._wait(lambda line: None, 0, until_end=True)
        else:
            self.running.stop()  # the generator reports what it has measured so far
        return self._output()

    def _output(self) -> Output:
        exits = self.running.exits()
        return Output(self.running.stdout(), "\n".join([*self._messages, *self._unread, self._lines.rest]), exits[0].code if exits else 0)

    def _wait(self, find: Callable[[str], Found | None], limit_s: float, *, until_end: bool = False) -> Found | None:
        """Wait until ``find`` returns a value for a line of standard error, and return that value.

        With ``until_end``, wait until the generator ends. Raises :class:`LoadError` if the generator takes too long, or if it ends and
        ``until_end`` is false.
        """
        deadline = time.monotonic() + limit_s + SLACK_S
        while True:
            while self._unread:
                line = self._unread.popleft()
                if (found := find(line)) is not None:
                    return found
                if (progress := self._generator.progress(line)) is not None:
                    self._report(progress)
                elif not line.startswith("{"):
                    self._messages.append(line)
            if (arrived := self._lines.arrived()) is None:
                if until_end:
                    return None
                output = self._output()
                self._generator.measurement(self._job, output)  # raises an error with the reason if the generator printed one
                raise LoadError(f"{self._generator.name} {output.ending} between two slices", log_tail=output.tail or None)
            self._unread.extend(arrived)
            if self._death() is not None:
                return None
            if time.monotonic() > deadline:
                tail = "\n".join(self._messages[-LOG_LINES:]) or None
                raise LoadError(f"{self._generator.name} did not end within {limit_s + SLACK_S:.0f} s", log_tail=tail)
