"""Tests that a container's CPU time, memory and throttling come from its control groups."""

from __future__ import annotations

import os
from pathlib import Path

from httpbench.host.control_groups import groups_of
from httpbench.sample import TreeSampler
from tests import control_groups as fake


def test_control_groups_count_the_whole_container(tmp_path: Path) -> None:
    group = fake.version_2(tmp_path, cgroup_procs=f"{os.getpid()}\n")
    groups = groups_of(fake.PID, tmp_path)
    sampler = TreeSampler(os.getpid(), interval_s=60, groups=groups)
    sampler.start()
    fake.write(group, "cpu.stat", "usage_usec 3500000\nnr_periods 20\nnr_throttled 9\nthrottled_usec 2000000\n")
    fake.write(group, "memory.events", "oom_kill 2\n")
    usage = sampler.stop()
    assert usage.cpu_s == 1.0
    assert usage.throttled_s == 0.5
    assert usage.throttled_samples_s == (0.5,)
    assert usage.group_bytes_peak == 1_000_000
    assert usage.oom_kills == 2
    assert usage.processes_peak == 1
    assert usage.rss_bytes_peak > 1_000_000


def test_a_container_that_ends_keeps_its_last_values(tmp_path: Path) -> None:
    group = fake.version_2(tmp_path)
    sampler = TreeSampler(fake.PID, interval_s=60, groups=groups_of(fake.PID, tmp_path))
    sampler.start()
    for file in group.iterdir():
        file.unlink()
    usage = sampler.stop()
    assert usage.cpu_s == 0.0
    assert usage.group_bytes_peak == 1_000_000
    assert usage.throttled_s is None
