"""Record the profile of a target that is measured in slices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from httpbench.errors import ProfileError
from httpbench.host.commands import capture
from httpbench.host.scratch import scratch_folder
from httpbench.load import SliceReport
from httpbench.model import NOT_SAMPLED, Cores, KernelCounts, Observed, Profile, ProfiledSlice, TrialPlan
from httpbench.profile import KernelCounter, Profilers, jcmd, map_files, without_waits
from httpbench.run.slices.sampling import sampling
from httpbench.run.trial.running import RunningTarget

COUNTED = 1
"""Number of slices, before the profiled ones, in which the kernel counts. They aren't profiled, because counting takes CPU time, too."""


class Recorder:
    """The recording of one target's profile. ``warn`` reports what the profile lacks."""

    def __init__(self, profilers: Profilers, warn: Callable[[str], object]):
        self._profilers, self._warn = profilers, warn
        self._kept: list[tuple[SliceReport, Observed]] = []
        """Results of the profiled slices."""
        self._begun = 0
        self._counts: KernelCounts | None = None
        self.profile: Profile | None = None
        """The profile, after :meth:`finish`."""

    @contextmanager
    def attached(self, running: RunningTarget, cores: Cores) -> Iterator[None]:
        """Prepare to profile a target, and clean up when the block ends."""
        self._running = running
        self._counter = KernelCounter(running.pids, running.port)
        before = running.pids()
        with scratch_folder() as scratch, sampling(self._profilers, running, scratch, cores, self._warn) as self._sampling:
            try:
                yield
            finally:
                _remove_maps([*before, *running.pids()])

    @contextmanager
    def slice(self, seconds: float) -> Iterator[None]:
        """Take samples during the block, which takes about ``seconds``. In the first slice, let the kernel count instead."""
        self._begun += 1
        if self._begun <= COUNTED:
            with self._counter.counting():
                yield
            return
        self._sampling.begin(seconds)
        try:
            yield
        finally:
            self._sampling.end()

    def keep(self, report: SliceReport, observed: Observed) -> None:
        """Add the results of the last slice."""
        if self._begun <= COUNTED:
            self._counts = self._counter.counts(report.completed + report.outside)
        else:
            self._kept.append((report, observed))

    def finish(self, planned: TrialPlan) -> None:
        """Make the profile. The target must be running. Raises :class:`ProfileError` if there are no samples."""
        for pid in self._running.pids():
            if command := jcmd(pid):
                capture(command)  # without it, the functions of this JVM have no names
        sampled = list(zip(self._kept, self._sampling.stacks(), strict=False))  # an interrupted slice has stacks but no results
        slices = [_profiled(*results, stacks, self._sampling.frequency_hz) for results, stacks in sampled]
        samples = sum(sum(stacks.values()) for _, stacks in sampled)
        cpu_s = sum(each.cpu_s for each in slices)
        if not samples:
            raise ProfileError(f"{self._sampling.name} took no samples")
        reports = [report for report, _ in self._kept]
        self.profile = Profile(
            target=planned.target,
            scaling=planned.scaling,
            workload=planned.workload,
            load=planned.load,
            profiler=self._sampling.name,
            frequency_hz=self._sampling.frequency_hz or samples / max(cpu_s, 1e-9),
            sees_kernel=self._sampling.sees_kernel,
            throughput_rps=sum(report.completed for report in reports) / sum(report.duration_s for report in reports),
            slices=tuple(slices),
            counts=self._counts,
        )


def _profiled(report: SliceReport, observed: Observed, stacks: dict[str, int], frequency_hz: float | None) -> ProfiledSlice:
    """Return a slice. CPU time without samples, as in context switches, is a stack of its own, so that all shares are of the CPU time."""
    usage = observed.target_usage
    cpu_s = usage.cpu_s if usage else 0.0
    if frequency_hz is not None:
        stacks = without_waits(stacks, round(cpu_s * frequency_hz))
        missing = round(cpu_s * frequency_hz) - sum(stacks.values())
        stacks = {**stacks, NOT_SAMPLED: missing} if missing > 0 else stacks
    return ProfiledSlice(requests=report.completed + report.outside, cpu_s=cpu_s, stacks=stacks)


def _remove_maps(pids: Sequence[int]) -> None:
    for path in map_files(pids):
        with suppress(OSError):
            path.unlink(missing_ok=True)
