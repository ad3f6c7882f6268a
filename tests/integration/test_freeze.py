"""Tests that a frozen tree of real processes doesn't run, continues after a thaw, and always ends."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from httpbench.isolate import Command, ProcessTree, accepts, free_port, freezer, tail
from httpbench.isolate.freezer import SignalFreezer
from tests.control_groups import WITHOUT_GROUPS
from tests.forked import Forked
from tests.waiting import gone, until

SPIN = "while :; do :; done"
FROZEN_S = 0.3
USED_S = 0.05
"""CPU time that a thawed program must use to show that it is running again."""

THREADS = """
import threading, time
def work():
    while True: sum(range(1000))
for _ in range(3): threading.Thread(target=work, daemon=True).start()
print("up", flush=True)
work()
"""
FORKS = """
import os, signal, sys
sys.stdout.write("up\\n"); sys.stdout.flush()
while True:
    if os.fork() == 0:
        if os.fork() == 0: sum(range(20_000))
        os._exit(0)
    os.wait()
"""
SPAWNS = """
import subprocess
print("up", flush=True)
while True: subprocess.run(["true"])  # forks with vfork
"""
DEAF = """
import signal
for number in (signal.SIGCONT, signal.SIGTERM, signal.SIGTSTP, signal.SIGCHLD): signal.signal(number, signal.SIG_IGN)
print("up", flush=True)
while True: pass
"""
POLITE = """
import signal, sys, time
def end(*_):
    print("bye", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("up", flush=True)
while True: time.sleep(0.05)  # pause would miss a signal that arrives just before it
"""
SUPERVISES = """
import os, sys, time
child = os.fork()
if child == 0:
    while True: sum(range(1000))
print("up", flush=True)
while True:
    pid, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
    if pid:
        print("the child changed", flush=True)
        sys.exit(1)
    time.sleep(0.001)
"""

HARNESS = """
import os, sys
from pathlib import Path
from httpbench.isolate import Command, ProcessTree
folder = Path(sys.argv[1])
tree = ProcessTree([Command(("sh", "-c", sys.argv[2]), folder, {})], stdout=folder / "log", stderr=folder / "log")
print(tree.guard_pid, tree._group or "-", flush=True)
sys.stdin.readline()
tree.freeze()
print(type(tree._freezer).__name__, flush=True)
sys.stdin.readline()
"""
FAMILY = f"(setsid sh -c '{SPIN}' &); trap '' TERM; ({SPIN}) & {SPIN}"
FAMILY_SIZE, COMMANDS_AND_ORPHANS = 3, 2

Starts = Callable[..., ProcessTree]


@pytest.fixture(params=["group", "signals"])
def starts(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Starts]:
    """Yield a function that starts a tree of commands. The tree can be frozen either by a control group or by signals."""
    if request.param == "signals":
        monkeypatch.setattr(freezer, "of_tree", lambda guard_pid, *_: SignalFreezer(guard_pid))
    trees: list[ProcessTree] = []

    def start(*argv: str, copies: int = 1) -> ProcessTree:
        log = tmp_path / "log"
        tree = ProcessTree([Command(argv, tmp_path, {})] * copies, stdout=log, stderr=log)
        trees.append(tree)
        if request.param == "group" and tree._group is None:
            pytest.skip("control groups cannot be made here")
        until(lambda: (tail(log) or "").count("up") == copies)
        return tree

    yield start
    for tree in trees:
        tree.kill()
        assert tree._group is None or not Path(tree._group).exists()


def cpu_s(tree: ProcessTree) -> dict[int, float]:
    """Return the CPU time of each process, including its children that have ended, by process id. Zombies don't count."""
    found = {}
    for process in psutil.Process(tree.guard_pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                found[process.pid] = sum(process.cpu_times()[:4])
    return found


def is_still(tree: ProcessTree, still_s: float = FROZEN_S) -> None:
    """Assert that no process uses CPU time and none starts. A process that was already ending may still end."""
    before = cpu_s(tree)
    time.sleep(still_s)
    assert cpu_s(tree).items() <= before.items()


def goes_on(tree: ProcessTree) -> None:
    used_s = sum(cpu_s(tree).values())
    until(lambda: sum(cpu_s(tree).values()) > used_s + USED_S)


@pytest.mark.parametrize("program", [THREADS, DEAF], ids=["threads", "ignores signals"])
def test_a_busy_program_stands_still_until_it_is_thawed(starts: Starts, program: str) -> None:
    tree = starts(sys.executable, "-c", program)
    for _ in range(3):
        tree.freeze()
        tree.freeze()
        is_still(tree)
        tree.thaw()
        tree.thaw()
        goes_on(tree)
    assert tree.exits() == []


@pytest.mark.parametrize("program", [FORKS, SPAWNS], ids=["fork", "vfork"])
def test_a_program_that_starts_processes_all_the_time_stands_still(starts: Starts, program: str) -> None:
    tree = starts(sys.executable, "-c", program)
    for _ in range(20):
        tree.freeze()
        is_still(tree, 0.02)
        tree.thaw()
        time.sleep(0.005)
    goes_on(tree)


def test_all_copies_stand_still(starts: Starts) -> None:
    tree = starts("sh", "-c", f"echo up; ({SPIN}) & {SPIN}", copies=8)
    until(lambda: len(cpu_s(tree)) == 16)
    tree.freeze()
    is_still(tree)
    tree.thaw()
    goes_on(tree)


NGINX = """
daemon off; worker_processes 4; pid {folder}/pid; error_log stderr;
events {{ worker_connections 64; }}
http {{ access_log off; server {{ listen 127.0.0.1:{port}; location / {{ return 200 "hello"; }} }} }}
"""


@pytest.mark.skipif(shutil.which("nginx") is None, reason="requires nginx")
def test_a_frozen_server_with_workers_responds_after_the_thaw(starts: Starts, tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "conf").write_text(NGINX.format(folder=tmp_path, port=port))
    tree = starts("sh", "-c", f"echo up; exec nginx -e {tmp_path}/log -p {tmp_path} -c {tmp_path}/conf")
    until(lambda: accepts(port) and len(cpu_s(tree)) == 5)
    for _ in range(3):
        tree.freeze()
        with socket.create_connection(("127.0.0.1", port)) as stream:
            stream.sendall(b"GET / HTTP/1.0\r\n\r\n")
            stream.settimeout(0.1)
            with pytest.raises(TimeoutError):
                stream.recv(100)
            tree.thaw()
            stream.settimeout(10)
            assert stream.recv(100).startswith(b"HTTP/1.1 200 OK")
    assert tree.exits() == []
    tree.freeze()
    assert tree.stop(5).problem is None


def test_a_supervisor_does_not_see_that_its_child_was_frozen(starts: Starts) -> None:
    tree = starts(sys.executable, "-c", SUPERVISES)
    for _ in range(10):
        tree.freeze()
        time.sleep(0.01)
        tree.thaw()
        time.sleep(0.01)
    assert tree.exits() == []


def test_a_process_that_was_stopped_before_stays_stopped(starts: Starts) -> None:
    tree = starts("sh", "-c", f"echo up; {SPIN}")
    (pid,) = tree.pids
    os.kill(pid, signal.SIGSTOP)
    until(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    tree.freeze()
    tree.thaw()
    is_still(tree)
    assert psutil.Process(pid).status() == psutil.STATUS_STOPPED


def test_a_frozen_program_that_is_killed_is_noticed(starts: Starts) -> None:
    tree = starts(sys.executable, "-c", THREADS)
    tree.freeze()
    os.kill(tree.pids[0], signal.SIGKILL)
    end = tree.wait(5)
    assert str(end) == "killed by signal 9"
    tree.thaw()
    tree.freeze()


def test_a_frozen_program_handles_the_sigterm_of_its_stop(starts: Starts, tmp_path: Path) -> None:
    tree = starts(sys.executable, "-c", POLITE)
    tree.freeze()
    begin = time.monotonic()
    stopped = tree.stop(5)
    assert time.monotonic() - begin < 2
    assert stopped.problem is None
    assert (tail(tmp_path / "log") or "").endswith("bye")


def test_a_frozen_tree_that_is_killed_is_gone(starts: Starts) -> None:
    tree = starts("sh", "-c", f"echo up; (setsid sh -c '{SPIN}' &); trap '' TERM; {SPIN}")
    until(lambda: len(cpu_s(tree)) == 2)
    family = list(cpu_s(tree))
    tree.freeze()
    tree.kill()
    assert gone(family)


def test_a_tree_that_has_ended_can_be_frozen(starts: Starts) -> None:
    tree = starts("sh", "-c", "echo up")
    assert tree.wait(5)
    tree.freeze()
    tree.thaw()
    tree.stop()
    tree.freeze()
    tree.thaw()


@dataclass(frozen=True, slots=True)
class FrozenHarness:
    """A harness whose target is frozen."""

    process: subprocess.Popen[str]
    guard: int
    keeper: int
    group: str
    family: list[int]

    def is_gone(self) -> bool:
        return gone([self.guard, self.keeper, *self.family]) and not Path(self.group).exists()


def whole_family(guard: psutil.Process) -> list[int]:
    """Return the processes of the family once all of them run, and the shell that started the orphan has ended. Until then, return none."""
    try:
        running = [each.pid for each in guard.children(recursive=True) if each.status() != psutil.STATUS_ZOMBIE]
    except psutil.NoSuchProcess:
        return []
    return running if (len(guard.children()), len(running)) == (COMMANDS_AND_ORPHANS, FAMILY_SIZE) else []


@pytest.fixture(params=["group", "signals"])
def frozen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FrozenHarness]:
    if request.param == "signals" and (os.geteuid() != 0 or shutil.which("unshare") is None):
        pytest.skip("only root can hide the control groups")
    argv = ["-c", HARNESS, str(tmp_path), FAMILY]
    options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    hidden = [*WITHOUT_GROUPS, sys.executable]
    with Forked(argv, **options) if request.param == "group" else subprocess.Popen([*hidden, *argv], **options) as process:
        try:
            assert process.stdin and process.stdout
            guard, group = process.stdout.readline().split()
            if request.param == "group" and group == "-":
                pytest.skip("control groups cannot be made here")
            parent = psutil.Process(int(guard))
            family = until(lambda: whole_family(parent))
            process.stdin.write("freeze\n")
            process.stdin.flush()
            assert process.stdout.readline() == ("GroupFreezer\n" if request.param == "group" else "SignalFreezer\n")
            yield FrozenHarness(process, int(guard), parent.ppid(), group, family)
        finally:
            process.kill()


def test_nothing_is_left_of_a_frozen_tree_whose_harness_is_killed(frozen: FrozenHarness) -> None:
    frozen.process.kill()
    until(frozen.is_gone, limit_s=2)


def test_nothing_is_left_if_the_guard_is_killed_too(frozen: FrozenHarness) -> None:
    os.kill(frozen.guard, signal.SIGKILL)
    frozen.process.kill()
    until(frozen.is_gone, limit_s=2)


def test_nothing_is_left_if_the_keeper_is_killed_too(frozen: FrozenHarness) -> None:
    os.kill(frozen.keeper, signal.SIGKILL)
    frozen.process.kill()
    until(frozen.is_gone, limit_s=2)


def test_ctrl_c_leaves_nothing_of_a_frozen_tree(frozen: FrozenHarness) -> None:
    frozen.process.send_signal(signal.SIGINT)
    until(frozen.is_gone, limit_s=2)


def test_the_next_guard_removes_what_is_left_if_harness_guard_and_keeper_are_killed_together(frozen: FrozenHarness, tmp_path: Path) -> None:
    if frozen.group == "-":
        pytest.skip("without a group, nothing tells the next guard of the processes")
    for pid in (frozen.keeper, frozen.guard):
        os.kill(pid, signal.SIGSTOP)  # so that neither can react to the death of another process
    for pid in (frozen.process.pid, frozen.keeper, frozen.guard):
        os.kill(pid, signal.SIGKILL)
    until(lambda: gone([frozen.process.pid, frozen.keeper, frozen.guard]))
    assert not gone(frozen.family)
    with ProcessTree([Command(("sleep", "1000"), tmp_path, {})], stdout=tmp_path / "log", stderr=tmp_path / "log"):
        assert frozen.is_gone()


def test_a_guard_leaves_the_groups_of_running_guards_alone(frozen: FrozenHarness, tmp_path: Path) -> None:
    with ProcessTree([Command(("sleep", "1000"), tmp_path, {})], stdout=tmp_path / "log", stderr=tmp_path / "log"):
        assert not any(gone([pid]) for pid in frozen.family)
