"""Knobs of the memory management."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from httpbench.host.knobs.knob import Knob, Setting, exactly, read_value


class NumaBalancing(Knob):
    name = "numa-balancing"
    why = "the kernel unmaps pages now and then to see which node uses them, and the next request pays for a page fault"
    source = "Linux, Documentation/admin-guide/sysctl/kernel.rst (numa_balancing)"

    def settings(self, root: Path) -> Sequence[Setting]:
        return exactly(root, root / "proc/sys/kernel/numa_balancing", "0")

    def what(self, settings: Sequence[Setting]) -> str:
        return f"automatic NUMA balancing is {'off' if settings[0].is_fine else 'on'}"


class HugePages(Knob):
    name = "huge-pages"
    severity = "note"
    why = 'with "always", memory use grows in steps of 2 MB, and compaction can stop a target for milliseconds'
    source = "Linux, Documentation/admin-guide/mm/transhuge.rst"

    def settings(self, root: Path) -> Sequence[Setting]:
        path = root / "sys/kernel/mm/transparent_hugepage/enabled"
        now = read_value(path)
        return exactly(root, path, "madvise" if now == "always" else now or "")

    def what(self, settings: Sequence[Setting]) -> str:
        return f"transparent huge pages are set to {settings[0].now}"
