"""Tests of our timer with programs of known cost. Upper limits are generous, because the machine may be busy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from httpbench import load
from httpbench.isolate import Command, ProcessTree
from httpbench.load import Timed

pytestmark = pytest.mark.slow


def timed(tmp_path: Path, *argv: str) -> Timed:
    """Time a command under a guard, as in a trial."""
    timer = load.timer("native")
    report, output = tmp_path / "report", tmp_path / "output"
    with ProcessTree([Command(timer.argv(argv, report, output), tmp_path, {})], stdout=tmp_path / "out", stderr=tmp_path / "log") as tree:
        end = tree.wait(60)
    assert end is not None
    assert end.code == 0, (tmp_path / "log").read_text()
    return timer.read(report.read_text())


def python(tmp_path: Path, program: str) -> Timed:
    return timed(tmp_path, sys.executable, "-I", "-S", "-c", program)


def test_wall_time_includes_a_sleep_but_cpu_time_does_not(tmp_path: Path) -> None:
    found = timed(tmp_path, "sleep", "0.5").timing
    assert 0.5 <= found.wall_s < 10
    assert found.cpu_s < 0.1


def test_cpu_time_equals_the_programs_own_measurement(tmp_path: Path) -> None:
    found = python(tmp_path, "import time\nwhile time.process_time() < 0.5: pass\nprint(time.process_time())")
    own_s = float((tmp_path / "output").read_text())
    assert own_s <= found.timing.cpu_s <= own_s + 0.2, "the rest is the interpreter's shutdown"
    assert found.timing.wall_s >= 0.5


def test_the_time_of_children_counts(tmp_path: Path) -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    found = python(tmp_path, f"import subprocess, sys\nsubprocess.run([sys.executable, '-I', '-S', '-c', '''{busy}'''])")
    assert found.timing.cpu_s >= 0.3


def test_peak_memory_does_not_include_the_guard(tmp_path: Path) -> None:
    large = python(tmp_path, "x = bytearray(50_000_000)\nx[::4096] = b'x' * len(x[::4096])").timing.rss_bytes_peak
    assert large is not None
    assert 50_000_000 < large < 80_000_000
    small = timed(tmp_path, "sleep", "0").timing.rss_bytes_peak
    assert small is None or small < 5_000_000, "the guard is an interpreter of 10 MB, which must not be counted"


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", -9)])
def test_the_exit_code_is_reported(tmp_path: Path, script: str, code: int) -> None:
    assert timed(tmp_path, "sh", "-c", script).code == code


def test_a_program_that_cannot_run_is_a_timer_error(tmp_path: Path) -> None:
    timer = load.timer("native")
    argv = timer.argv(("/no/such/program",), tmp_path / "report", tmp_path / "output")
    with ProcessTree([Command(argv, tmp_path, {})], stdout=tmp_path / "out", stderr=tmp_path / "log") as tree:
        end = tree.wait(60)
    assert end is not None
    assert end.code == 127
    assert 'cannot run "/no/such/program": No such file or directory' in (tmp_path / "log").read_text()
