"""Command lines of profilers, the stacks in their output, and counts of what a target asks of the kernel.

A profiler samples a running target: perf by default, or a language's own sampler where it sees more. The run starts the profilers, under a
guard. This package starts only short probes, and ``perf stat``, which ends with the target.
"""

from __future__ import annotations

from httpbench.profile.command import PySpy, ShellCommand
from httpbench.profile.counters import KernelCounter
from httpbench.profile.folded import folded, without_waits
from httpbench.profile.perf import Perf, stacks_of
from httpbench.profile.profilers import Profilers
from httpbench.profile.runtimes import has_frame_pointers, is_python, jcmd, map_files, with_maps

__all__ = [
    "KernelCounter",
    "Perf",
    "Profilers",
    "PySpy",
    "ShellCommand",
    "folded",
    "has_frame_pointers",
    "is_python",
    "jcmd",
    "map_files",
    "stacks_of",
    "with_maps",
    "without_waits",
]
