"""Tests that only one run at a time uses each core. The locks are real, but in the test's own folder."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from httpbench.errors import CoresInUseError
from httpbench.host import Core, Topology, only_run_on
from httpbench.host.cores import core_locks
from httpbench.host.cores.core_locks import folder_of_locks
from tests.waiting import until

FOUR = Topology(tuple(Core((cpu,), (cpu,), 0, 1024) for cpu in range(4)))
HOLDER = """
import sys, time
from httpbench.host import Core, Topology, only_run_on
cpus = [int(cpu) for cpu in sys.argv[1:]]
with only_run_on(cpus, Topology(tuple(Core((cpu,), (cpu,), 0, 1024) for cpu in range(4))), waits=False, say=print):
    print("has it", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HTTPBENCH_LOCKS", str(tmp_path))
    monkeypatch.setattr(core_locks, "POLL_S", 0.02)
    return tmp_path


@contextmanager
def another_run(*cpus: int) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", HOLDER, *map(str, cpus)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "has it\n"
        try:
            yield process
        finally:
            process.kill()


def refused(cpus: set[int], topology: Topology = FOUR) -> str | None:
    """Return the error of a run that doesn't wait, or ``None`` if it gets the cores."""
    said: list[str] = []
    try:
        with only_run_on(cpus, topology, waits=False, say=said.append):
            assert said == []
            return None
    except CoresInUseError as error:
        return error.message


def test_a_second_run_on_a_core_fails_with_the_first_ones_process_id() -> None:
    with another_run(0, 1) as first:
        assert refused({1, 2}) == f"the httpbench run with process id {first.pid} is measuring on the same cores"
    assert refused({1, 2}) is None


def test_runs_on_other_cores_do_not_conflict() -> None:
    with another_run(0, 1):
        assert refused({2, 3}) is None


def test_siblings_are_one_core_even_if_a_run_may_use_only_one_of_them() -> None:
    first = Topology((Core((0,), (0, 4), 0, 1024),))
    second = Topology((Core((4,), (0, 4), 0, 1024),))
    with only_run_on({0}, first, waits=False, say=print):
        assert refused({4}, second) is not None


def test_a_second_run_waits_and_reports_it_once() -> None:
    said: list[str] = []
    entered = threading.Event()

    def second() -> None:
        with only_run_on({0}, FOUR, waits=True, say=said.append):
            entered.set()

    with another_run(0) as first:
        waiting = threading.Thread(target=second)
        waiting.start()
        until(lambda: said)
        assert not entered.wait(0.2)
    waiting.join(10)
    assert entered.is_set()
    assert said == [
        f"waiting until the httpbench run with process id {first.pid} ends: it is measuring on the same cores; "
        "with --no-wait, httpbench would exit instead"
    ]


def test_a_waiting_run_reports_when_the_first_one_is_expected_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("httpbench.host.cores.core_locks.WAIT_MAX_S", 0.1)
    begin = time.time()
    with (
        only_run_on({0}, FOUR, waits=False, say=print, lasts_s=90),
        pytest.raises(CoresInUseError),
        only_run_on({0}, FOUR, waits=True, say=said.append),
    ):
        pass
    ends = {time.strftime("%H:%M:%S", time.localtime(begin + 90 + late_s)) for late_s in range(-1, 5)}
    assert any(f"ends, expected at {end}: it is measuring" in said[0] for end in ends), said


def test_a_killed_run_leaves_no_lock() -> None:
    with another_run(0) as first:
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        assert refused({0}) is None


def test_a_refused_run_holds_no_lock() -> None:
    with another_run(1):
        assert refused({0, 1}) is not None
        assert refused({0}) is None


def test_waiting_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_locks, "WAIT_MAX_S", 0.05)
    with another_run(0), pytest.raises(CoresInUseError), only_run_on({0}, FOUR, waits=True, say=lambda text: None):
        pass


def test_the_contents_of_a_lock_file_decide_nothing(folder: Path) -> None:
    lock = folder / "httpbench-core-0.lock"
    for text in (b"", b"1 pid:[1]\n", b"\xff\x1b[31m" * 1000):
        lock.write_bytes(text)
        assert refused({0}) is None
    with only_run_on({0}, FOUR, waits=False, say=print):
        lock.write_bytes(b"\x1b[31m")
        assert refused({0}) == "another httpbench run is measuring on the same cores"
        lock.write_text("17 pid:[1]\n")
        assert refused({0}) == "the httpbench run with process id 17 in another container is measuring on the same cores"


def test_every_user_can_lock_another_users_file(folder: Path) -> None:
    before = os.umask(0o077)
    try:
        assert refused({0}) is None
    finally:
        os.umask(before)
    assert (folder / "httpbench-core-0.lock").stat().st_mode & 0o777 == 0o666


@pytest.mark.parametrize("trap", ["link", "dangling link", "hard link", "pipe", "folder", "missing"])
def test_impossible_locking_is_reported_once_and_the_run_continues(folder: Path, trap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, victim = folder / "httpbench-core-0.lock", folder / "victim"
    victim.write_text("precious")
    if trap == "link":
        lock.symlink_to(victim)
    elif trap == "dangling link":
        lock.symlink_to(folder / "nowhere")
    elif trap == "hard link":
        lock.hardlink_to(victim)
    elif trap == "pipe":
        os.mkfifo(lock)
    elif trap == "folder":
        lock.mkdir()
    else:
        monkeypatch.setenv("HTTPBENCH_LOCKS", str(folder / "nowhere"))
    said: list[str] = []
    with only_run_on({0}, FOUR, waits=False, say=said.append):
        assert len(said) == 1
    assert re.match(r"can't detect other runs on the same cores: /\S+: \S", said[0])
    assert victim.read_text() == "precious"
    assert not (folder / "nowhere").exists()


def test_an_error_of_the_run_is_not_taken_for_a_locking_error() -> None:
    with pytest.raises(FileNotFoundError, match="own"), only_run_on({0}, FOUR, waits=False, say=pytest.fail):
        raise FileNotFoundError("own")


def test_all_users_get_the_same_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HTTPBENCH_LOCKS")
    monkeypatch.setattr(core_locks, "PREFERRED", tmp_path)
    for mode, is_used in ((0o1777, True), (0o755, False), (0o777, False)):
        tmp_path.chmod(mode)
        assert folder_of_locks() == (tmp_path if is_used else Path("/tmp"))
    monkeypatch.setattr(core_locks, "PREFERRED", tmp_path / "nowhere")
    assert folder_of_locks() == Path("/tmp")
