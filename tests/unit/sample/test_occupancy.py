"""Tests of the occupancy of cores, from the kernel's table."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from httpbench.sample import OccupancyMeter
from httpbench.sample.occupancy import stolen_s


def table(*rows: tuple[int, ...]) -> str:
    return "\n".join(["cpu 0 0 0 0 0 0 0 0 0 0", *(f"cpu{n} {' '.join(map(str, row))} 0 0" for n, row in enumerate(rows)), "intr 5 5"])


def test_processes_interrupts_and_steal_are_separated(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text(table((0,) * 8, (0,) * 8))
    meter = OccupancyMeter([1, 0, 7], stat)
    time.sleep(0.1)
    #                user nice system idle iowait irq softirq steal
    stat.write_text(table((2, 1, 2, 9, 9, 1, 2, 1), (0,) * 8))
    first, second = meter.read()
    assert (first.cpu, second.cpu) == (0, 1)
    assert 0.3 < first.busy <= 0.5  # 50 ms in a little more than 100 ms
    assert 0.05 < first.stolen <= 0.1
    assert 0.15 < first.interrupts <= 0.3, "irq and softirq"
    assert (second.busy, second.interrupts, second.stolen) == (0, 0, 0)


def test_stolen_time_is_that_of_the_given_cpus(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text(table((0, 0, 0, 0, 0, 0, 0, 50), (0, 0, 0, 0, 0, 0, 0, 7), (0, 0, 0, 0, 0, 0, 0, 3)))
    assert stolen_s([0, 2], stat) == 0.53
    assert stolen_s([9], stat) == 0


def test_a_busy_core_is_measured() -> None:
    cpu = min(os.sched_getaffinity(0))
    burn = f"import os, time; os.sched_setaffinity(0, [{cpu}]); print(flush=True)\nwhile time.process_time() < 60: pass"
    with subprocess.Popen([sys.executable, "-c", burn], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        meter = OccupancyMeter([cpu])
        time.sleep(0.5)
        (core,) = meter.read()
        process.kill()
    assert core.busy + core.stolen > 0.5
