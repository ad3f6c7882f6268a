"""Collect samples of a process tree over a measured window: peaks, means and totals of all samples, and at most 600 samples for charts.

At 600 samples, neighboring samples are merged in pairs: their times add up, and the larger memory is kept. A series of an hour
therefore takes as much memory as a series of a minute, but has a lower resolution. The CPU peak is the highest mean over a second, as in
``top``. The mean over 0.1 s could be too high by a fifth, because the kernel counts in ticks of 10 ms.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from httpbench.model import Sample, Usage

KEPT = 600
PEAK_WINDOW_S = 0.95  # one second, minus some tolerance for early samples


@dataclass(frozen=True, slots=True)
class _Slice:
    """The samples from ``begin_s`` to ``end_s``, on the caller's clock."""

    begin_s: float
    end_s: float
    cpu_s: float
    rss_bytes: int
    processes: int
    throttled_s: float | None
    stolen_s: float

    def and_then(self, later: _Slice) -> _Slice:
        return _Slice(
            self.begin_s,
            later.end_s,
            self.cpu_s + later.cpu_s,
            max(self.rss_bytes, later.rss_bytes),
            max(self.processes, later.processes),
            None if self.throttled_s is None or later.throttled_s is None else self.throttled_s + later.throttled_s,
            self.stolen_s + later.stolen_s,
        )

    @property
    def duration_s(self) -> float:
        return self.end_s - self.begin_s


class SampleSeries:
    """The samples of a window that began at ``begin_s`` on a monotonic clock."""

    def __init__(self, begin_s: float):
        self._begin_s = begin_s
        self._end_s = begin_s
        self._cpu_s = 0.0
        self._cores_peak = 0.0
        self._rss_bytes_peak = 0
        self._rss_byte_seconds = 0.0
        self._pss_bytes_peak = 0
        self._pss_bytes_sum = 0
        self._pss_counts = 0
        self._processes_peak = 0
        self._recent: deque[tuple[float, float]] = deque([(begin_s, 0.0)])
        self._slices: list[_Slice] = []
        self._open: _Slice | None = None
        self._in_open = 0
        self._stride = 1

    def add(
        self, at_s: float, cpu_s: float, rss_bytes: int, processes: int, throttled_s: float | None = None, stolen_s: float = 0.0
    ) -> None:
        """Add a sample: current memory and processes, and the times since the last sample. Negative times count as 0."""
        throttled_s = None if throttled_s is None else max(throttled_s, 0.0)
        sample = _Slice(self._end_s, at_s, max(cpu_s, 0.0), rss_bytes, processes, throttled_s, max(stolen_s, 0.0))
        self._end_s = at_s
        self._cpu_s += sample.cpu_s
        self._rss_byte_seconds += rss_bytes * sample.duration_s
        self.memory(rss_bytes, processes)
        self._see_peak()
        self._open = self._open.and_then(sample) if self._open else sample
        self._in_open += 1
        if self._in_open == self._stride:
            self._slices.append(self._open)
            self._open, self._in_open = None, 0
            if len(self._slices) == KEPT:
                self._slices = [one.and_then(two) for one, two in zip(self._slices[::2], self._slices[1::2], strict=True)]
                self._stride *= 2

    def memory(self, rss_bytes: int, processes: int) -> None:
        """Raise the peaks of memory and of the number of processes if these values are higher, without adding a sample."""
        self._rss_bytes_peak = max(self._rss_bytes_peak, rss_bytes)
        self._processes_peak = max(self._processes_peak, processes)

    def pages(self, rss_bytes: int, pss_bytes: int) -> None:
        """Add memory that was counted page by page. ``pss_bytes`` is 0 if unknown."""
        self._rss_bytes_peak = max(self._rss_bytes_peak, rss_bytes)
        self._pss_bytes_peak = max(self._pss_bytes_peak, pss_bytes)
        self._pss_bytes_sum += pss_bytes
        self._pss_counts += 1 if pss_bytes else 0

    def cores_of_late(self) -> float:
        """Return the CPU use over about the last second, in cores."""
        begin_s, cpu_before_s = self._recent[0]
        elapsed_s = self._end_s - begin_s
        return (self._cpu_s - cpu_before_s) / elapsed_s if elapsed_s > 0 else 0.0

    def usage(self, ran_s: float = 0.0) -> Usage:
        """Return the usage of the window. ``ran_s`` is the CPU time by the threads' own counters, which also see less than a tick."""
        duration_s = self._end_s - self._begin_s
        cpu_s = max(self._cpu_s, ran_s)
        mean = cpu_s / duration_s if duration_s > 0 else 0.0
        parts = self._closed()
        throttled = [part.throttled_s for part in parts if part.throttled_s is not None]
        stolen = tuple(part.stolen_s for part in parts)
        return Usage(
            cpu_s=cpu_s,
            cpu_cores_mean=mean,
            cpu_cores_peak=max(self._cores_peak, mean),
            rss_bytes_peak=self._rss_bytes_peak,
            pss_bytes_peak=self._pss_bytes_peak or None,
            rss_bytes_mean=self._rss_byte_seconds / duration_s if duration_s > 0 else None,
            pss_bytes_mean=self._pss_bytes_sum / self._pss_counts if self._pss_counts else None,
            processes_peak=self._processes_peak,
            samples=tuple(self._sample(part) for part in parts),
            throttled_samples_s=tuple(throttled) if len(throttled) == len(parts) else (),
            stolen_samples_s=stolen if any(stolen) else (),
        )

    def _see_peak(self) -> None:
        while len(self._recent) > 1 and self._end_s - self._recent[1][0] >= PEAK_WINDOW_S:
            self._recent.popleft()
        if self._end_s - self._recent[0][0] >= PEAK_WINDOW_S:
            self._cores_peak = max(self._cores_peak, self.cores_of_late())
        self._recent.append((self._end_s, self._cpu_s))

    def _closed(self) -> list[_Slice]:
        """Return all slices.

        A short last slice is merged with the previous slice, because one tick within a few milliseconds would look like several busy cores.
        """
        slices = [*self._slices, *([self._open] if self._open else [])]
        if len(slices) > 1 and slices[-1].duration_s < slices[-2].duration_s / 2:
            last = slices.pop()
            slices[-1] = slices[-1].and_then(last)
        return slices

    def _sample(self, part: _Slice) -> Sample:
        cores = part.cpu_s / part.duration_s if part.duration_s > 0 else 0.0
        return Sample(at_s=part.end_s - self._begin_s, cpu_cores=cores, rss_bytes=part.rss_bytes, processes=part.processes)
