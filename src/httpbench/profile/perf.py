"""Linux perf: its command lines, and the stacks in the output of ``perf script``.

perf takes a sample after each thousandth of a second of CPU time, in user space and in the kernel. Most virtual machines have no
hardware counters, so ``cpu-clock`` takes the samples with a timer. The timer can't interrupt the kernel while interrupts are off. The
samples of such time appear where the kernel turns them on again.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from httpbench.errors import ProfileError, RequirementError
from httpbench.host.commands import capture
from httpbench.profile.folded import frame

PROGRAM = "perf"
INSTALL = "apt-get install linux-perf"
PARANOID = "kernel.perf_event_paranoid"
RATE_MAX = Path("/proc/sys/kernel/perf_event_max_sample_rate")

RATE_HZ = 997
"""Samples per second of CPU time. The number is prime, so that samples don't follow periodic work.

With 997 samples, the standard error of a share of 25% is 1.4 percentage points, with 199 samples 3.1.
"""

STACK_BYTES = 8192
"""Bytes of the stack that perf copies with each sample if frames are found with DWARF."""

SAMPLE = re.compile(r"\s*\d+\s+(\d+\.\d+):")
FRAME = re.compile(r"(?=.*\)$)\s+([0-9a-f]+) (.*?) \(([/\[].*)\)")


@dataclass(frozen=True, slots=True)
class Perf:
    """How perf can sample on this machine, for this user."""

    event: str
    """Event after which samples are taken, such as ``cpu-clock``."""
    sees_kernel: bool
    """Whether this user may sample the kernel."""
    rate_hz: int = RATE_HZ

    @property
    def name(self) -> str:
        return f"{PROGRAM} ({self.event})"

    def record(self, pids: Sequence[int], data: Path, orders: Path, answers: Path, *, by_frame_pointers: bool) -> tuple[str, ...]:
        """Return the command that samples processes, and all threads and processes that they start.

        It samples between the lines ``enable`` and ``disable`` in the named pipe ``orders``, which it acknowledges in ``answers``. The
        times of samples are those of :func:`time.monotonic`. SIGTERM ends it, which takes 0.7 s longer if perf also watches for new BPF
        programs.
        """
        return (
            *(PROGRAM, "record", "--event", self.event, "--freq", str(self.rate_hz)),
            *("--call-graph", "fp" if by_frame_pointers else f"dwarf,{STACK_BYTES}"),
            *("--pid", ",".join(map(str, pids)), "--delay", "-1", "--clockid", "monotonic", "--control", f"fifo:{orders},{answers}"),
            *("--no-buildid", "--no-buildid-cache", "--no-bpf-event", "--output", str(data)),
        )

    @staticmethod
    def script(data: Path) -> tuple[str, ...]:
        """Return the command that prints the samples in a file."""
        return (PROGRAM, "script", "--input", str(data), "--fields", "pid,time,ip,sym,dso", "--ns", "--no-inline")


def usable_perf() -> Perf:
    """Return how perf can sample on this machine.

    Raises :class:`RequirementError` if perf is missing, and :class:`ProfileError` if this user may not sample anything.
    """
    if shutil.which(PROGRAM) is None:
        raise RequirementError("--profile requires perf, which is missing", hint=INSTALL)
    if _may_count("cpu-clock:k"):
        return Perf("cycles" if _may_count("cycles") else "cpu-clock", sees_kernel=True, rate_hz=_rate_hz())
    if _may_count("cpu-clock:u"):
        return Perf("cycles:u" if _may_count("cycles:u") else "cpu-clock:u", sees_kernel=False, rate_hz=_rate_hz())
    hint = f"sysctl {PARANOID}=1 as root" if os.geteuid() else "this container may not use perf: profile outside of it"
    raise ProfileError("--profile is impossible: the kernel doesn't let this user sample programs", hint=hint)


def _may_count(event: str) -> bool:
    """Return whether this user may count an event and this machine has it."""
    done = capture((PROGRAM, "stat", "--field-separator", ",", "--event", event, "--", "true"))
    return done is not None and done.returncode == 0 and "<not " not in done.stderr


def _rate_hz() -> int:
    """Return the number of samples per second, which an administrator can limit."""
    try:
        return min(RATE_HZ, int(RATE_MAX.read_text()))
    except (OSError, ValueError):
        return RATE_HZ


def stacks_of(lines: Iterable[str], slices: Sequence[tuple[float, float]]) -> list[dict[str, int]]:
    """Return the folded stacks of each slice in the lines of ``perf script``. ``slices`` are their begin and end in seconds."""
    found: list[Counter[str]] = [Counter() for _ in slices]
    frames: list[str] = []
    time_s = 0.0

    def end_sample() -> None:
        index = next((index for index, (begin_s, end_s) in enumerate(slices) if begin_s <= time_s <= end_s), None)
        if frames and index is not None:
            found[index][";".join(reversed(frames))] += 1
        frames.clear()

    for line in lines:
        if sample := SAMPLE.match(line):
            end_sample()
            time_s = float(sample[1])
        elif at := FRAME.fullmatch(line.rstrip("\n")):
            address, symbol, dso = at.groups()
            frames.append(frame(symbol, dso, is_kernel=int(address, 16) >> 63 == 1))
    end_sample()
    return [dict(stacks) for stacks in found]
