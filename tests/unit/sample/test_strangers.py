"""Tests of the search for other programs that used CPU time, with real and fake processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from httpbench.model import Others
from httpbench.sample import StrangerMeter
from httpbench.sample.strangers import KERNEL_THREAD
from httpbench.sample.tree import TICKS_PER_S
from tests.waiting import until

HARNESS = 100
SPIN = "import time; end = time.monotonic() + {}\nwhile time.monotonic() < end: pass"


class Machine:
    """A folder with the structure of ``/proc``."""

    def __init__(self, folder: Path):
        self._folder = folder

    def add(self, pid: int, name: str = "spin", *, parent: int = 1, ticks: int = 0, reaped: int = 0, cpu: int = 0, flags: int = 0) -> None:
        fields = ["S", parent, pid, pid, 0, -1, flags, 0, 0, 0, 0, ticks, 0, reaped, 0, 20, 0, 1, 0, 5, *([0] * 16), cpu, 0, 0]
        place = self._folder / str(pid)
        place.mkdir(exist_ok=True)
        (place / "stat").write_text(f"{pid} ({name}) {' '.join(map(str, fields))}\n")

    def end(self, pid: int) -> None:
        (self._folder / str(pid) / "stat").unlink()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1} if pid < 1000 else {1})
    made = Machine(tmp_path)
    made.add(1, "init", parent=0)
    made.add(HARNESS, "python3")
    return made


def meter(machine: Machine, *cpus: int) -> StrangerMeter:
    return StrangerMeter(cpus or (0,), harness=HARNESS, proc=str(machine._folder))


def seconds(value: float) -> int:
    """Convert thousands of seconds to clock ticks. With such long times, the duration of the test doesn't matter."""
    return round(value * 1000 * TICKS_PER_S)


def test_a_process_that_used_cpu_time_is_listed_with_its_cpus(machine: Machine) -> None:
    machine.add(7, ticks=40, cpu=1)
    watching = meter(machine)
    machine.add(7, ticks=40 + seconds(1), cpu=0)
    (found,) = watching.read().strangers
    assert (found.name, found.pid, found.cpus, found.cpus_allowed) == ("spin", 7, (0, 1), (0, 1))
    assert found.cores > 0


def test_a_process_that_was_only_busy_before_is_not_listed(machine: Machine) -> None:
    machine.add(7, ticks=seconds(1))
    assert meter(machine).read().strangers == ()


def test_a_process_that_may_not_use_the_watched_cpus_is_left_out(machine: Machine) -> None:
    watching = meter(machine)
    machine.add(1007, ticks=seconds(1), cpu=1)
    assert watching.read().strangers == ()


def test_processes_of_the_run_are_not_strangers(machine: Machine) -> None:
    machine.add(101, "keeper", parent=HARNESS)
    machine.add(102, "guard", parent=101)
    watching = meter(machine)
    machine.add(103, "server", parent=102, ticks=seconds(5))
    machine.add(104, "worker", parent=103, ticks=seconds(5))
    assert watching.read() == Others(all_visible=False)


@pytest.mark.parametrize(("pid", "parent"), [(HARNESS, 1), (101, HARNESS), (102, 101)])
def test_the_harness_and_its_guards_are_recognized(machine: Machine, pid: int, parent: int) -> None:
    machine.add(101, "keeper", parent=HARNESS)
    machine.add(102, "guard", parent=101)
    watching = meter(machine)
    machine.add(pid, "own", parent=parent, ticks=seconds(1))
    found = watching.read()
    assert found.harness_cores > 0
    assert found.strangers == ()


def test_processes_below_other_roots_also_belong_to_the_run(machine: Machine) -> None:
    machine.add(50, "shim")
    watching = StrangerMeter((0,), harness=HARNESS, roots=(50,), proc=str(machine._folder))
    machine.add(51, "server", parent=50, ticks=seconds(1))
    found = watching.read()
    assert (found.strangers, found.harness_cores) == ((), 0.0)


def test_ended_children_are_labeled(machine: Machine) -> None:
    machine.add(7, "make")
    watching = meter(machine)
    machine.add(7, "make", reaped=seconds(1))
    (found,) = watching.read().strangers
    assert (found.name, found.is_of_children, found.cpus) == ("make", True, ())


def test_a_new_process_with_a_reused_id_counts_from_its_start(machine: Machine) -> None:
    machine.add(7, "old", ticks=seconds(9))
    watching = meter(machine)
    machine.end(7)
    machine.add(7, "new", ticks=0)
    stat = machine._folder / "7" / "stat"
    stat.write_text(stat.read_text().replace(" 5 0 0", " 6 0 0", 1))
    assert watching.read().strangers == ()


def test_kernel_threads_are_labeled_and_prove_full_visibility(machine: Machine) -> None:
    assert not meter(machine).read().all_visible
    machine.add(16, "ksoftirqd/0", parent=2, flags=KERNEL_THREAD)
    watching = meter(machine)
    machine.add(16, "ksoftirqd/0", parent=2, ticks=seconds(1), flags=KERNEL_THREAD)
    found = watching.read()
    assert [one.is_kernel for one in found.strangers] == [True]
    assert found.all_visible


def test_names_are_sanitized(machine: Machine) -> None:
    watching = meter(machine)
    machine.add(7, "a) b\x1b[31m (", ticks=seconds(1))
    assert watching.read().strangers[0].name == "a) b?[31m ("


def test_only_the_busiest_processes_are_kept(machine: Machine) -> None:
    watching = meter(machine)
    for pid in range(200, 400):
        machine.add(pid, ticks=seconds(1) + pid)
    found = watching.read().strangers
    assert [one.pid for one in found] == list(range(399, 383, -1))


@contextmanager
def spinning(cpu: int, lasting_s: float) -> Iterator[int]:
    """Start a process that doesn't descend from the run and keeps a CPU busy."""
    script = f"import os, sys; os.sched_setaffinity(0, {{{cpu}}}); print(os.getpid(), flush=True)\n{SPIN.format(lasting_s)}"
    start = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {script!r}], start_new_session=True)"
    with subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())


def test_a_real_stranger_is_found() -> None:
    """Another process stands in for the harness, because this process may have adopted orphans in an earlier test."""
    cpu = max(os.sched_getaffinity(0))
    with subprocess.Popen(["sleep", "60"]) as harness, spinning(cpu, 2) as pid:
        watching = StrangerMeter({cpu}, harness=harness.pid)
        time.sleep(0.3)
        found = until(lambda: next((one for one in watching.read().strangers if one.pid == pid), None))
        harness.kill()
    assert found is not None
    assert found.cpus == found.cpus_allowed == (cpu,)
    assert found.name.startswith("python")


def test_a_process_that_we_start_is_not_a_stranger() -> None:
    with subprocess.Popen([sys.executable, "-c", SPIN.format(1)]) as process:
        watching = StrangerMeter(os.sched_getaffinity(0))
        time.sleep(0.3)
        found: Others = watching.read()
    assert process.pid not in {one.pid for one in found.strangers}
    assert os.getpid() not in {one.pid for one in found.strangers}


def test_hundreds_of_processes_are_read_quickly(machine: Machine) -> None:
    """Reading should take one millisecond, which is 0.1% of a one-second trial. The test allows more, because this machine may be busy."""
    for pid in range(200, 700):
        machine.add(pid, ticks=pid)
    watching = meter(machine)
    begin = time.process_time()
    watching.mark()
    assert time.process_time() - begin < 0.05
