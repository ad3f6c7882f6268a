"""Notes on targets in containers: their limits, how these were proved, and what the control groups counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from httpbench.analysis.rows import Row
from httpbench.model import Isolation, NetworkMode, Trial

NETWORKS = {NetworkMode.HOST: "host network", NetworkMode.BRIDGE: "bridge network"}


def container_notes(rows: Sequence[Row]) -> Iterator[str]:
    """One for each target that ran in a container."""
    contained = [row for row in rows if row.target.isolation is not None]
    for name in dict.fromkeys(row.target.id for row in contained):
        own = [row for row in contained if row.target.id == name]
        trials = [trial for row in own for trial in row.trials]
        isolation = own[0].target.isolation
        if isolation is not None:
            yield f"{name}: {'; '.join([_limits(isolation, trials), *_counted(isolation, trials)])}."


def _limits(isolation: Isolation, trials: Sequence[Trial]) -> str:
    """``docker 20.10.24, --cpus 1, --memory 512m, host network; limits read and tried``."""
    known = [trial.container for trial in trials if trial.container]
    engine = f"{isolation.engine} {known[0].engine_version}" if known else str(isolation.engine)
    memory = f"{isolation.memory_bytes / (1 << 20):g}m"
    parts = f"{engine}, --cpus {isolation.cpus:g}, --memory {memory}, {NETWORKS[isolation.network]}"
    if not known:
        return parts
    burned = [each.burned_cpus for each in known if each.burned_cpus is not None]
    if not burned:
        return f"{parts}; limits read, but not tried, which requires root"
    if not any(each.was_tried for each in known):
        return f"{parts}; limits read; a burn reached {max(burned):.2f} cores only, so it did not try the CPU limit"
    return f"{parts}; limits read, and tried by a burn ({max(burned):.2f} cores)"


def _counted(isolation: Isolation, trials: Sequence[Trial]) -> Iterator[str]:
    usages = [trial.target_usage for trial in trials if trial.target_usage]
    if throttled := [usage for usage in usages if usage.throttled_s]:
        share, stopped_s = max((usage.throttled_share or 0, usage.throttled_s or 0) for usage in throttled)
        yield f"its CPU limit stopped it in {share:.0%} of periods, {stopped_s:.1f} s in all" + (
            " (worst round)" if len(usages) > 1 else ""
        )
    if peaks := [usage.group_bytes_peak for usage in usages if usage.group_bytes_peak]:
        yield f"most memory, page cache included, {max(peaks) / 1e6:,.1f} of {isolation.memory_bytes / 1e6:,.0f} MB"
