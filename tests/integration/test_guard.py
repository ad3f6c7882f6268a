"""Tests that no process of a target survives if the guard lacks permissions, is stopped or is killed. The processes are real."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from httpbench.errors import StopError
from httpbench.isolate import Command, ProcessTree, guard
from httpbench.isolate.adopted import adopt_orphans, end_adopted
from tests.control_groups import WITHOUT_GROUPS
from tests.forked import Forked
from tests.waiting import gone, until

GONE = "the guard of a process tree was killed"
FAMILIES = {
    "children": "sleep 1000 & sleep 1001 & wait",
    "setsid": "setsid sleep 1000 & setsid sh -c 'sleep 1001 & wait' & wait",
    "double fork": "(sleep 1000 &) ; (setsid sh -c '(sleep 1001 &)' &) ; sleep 1002 & wait",
}
SLEEPS = {"children": 2, "setsid": 2, "double fork": 3}
SHELLS = {"children": 1, "setsid": 2, "double fork": 1}
"""Number of shells that keep running, by family. The other shells end after starting a ``sleep``."""

HARNESS = """
import os, sys
from pathlib import Path
from httpbench.errors import StopError
from httpbench.isolate import Command, ProcessTree
folder = Path(sys.argv[1])
with ProcessTree([Command(tuple(sys.argv[2:]), folder, {})], stdout=folder / "log", stderr=folder / "log") as tree:
    print(tree.guard_pid, *tree.pids, flush=True)
    sys.stdin.readline()
    try:
        print(tree.stop(0.2), flush=True)
    except StopError as error:
        print(error.message, flush=True)
"""


def start(folder: Path, script: str) -> ProcessTree:
    return ProcessTree([Command(("sh", "-c", script), folder, {})], stdout=folder / "log", stderr=folder / "log")


def family_of(tree: ProcessTree, name: str) -> list[int]:
    """Wait until only the final processes of the family are running, and return their ids."""

    def below() -> list[psutil.Process]:
        return psutil.Process(tree.guard_pid).children(recursive=True)

    until(lambda: sleeps(found := below()) == SLEEPS[name] and len(found) == SLEEPS[name] + SHELLS[name])
    return [process.pid for process in below()]


def sleeps(processes: list[psutil.Process]) -> int:
    """Return the number of ``sleep`` processes. A shell that started one may still be ending."""
    count = 0
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            count += process.name() == "sleep"
    return count


@pytest.mark.parametrize("name", FAMILIES)
def test_grandchildren_die_when_the_guard_is_killed(tmp_path: Path, name: str) -> None:
    with start(tmp_path, FAMILIES[name]) as tree:
        family = family_of(tree, name)
        os.kill(tree.guard_pid, signal.SIGKILL)
        with pytest.raises(StopError, match=GONE):
            tree.wait(5)
        until(lambda: gone(family), limit_s=2)
        with pytest.raises(StopError):
            tree.stop()


@pytest.mark.parametrize("name", FAMILIES)
def test_grandchildren_die_when_the_guards_keeper_is_killed(tmp_path: Path, name: str) -> None:
    with start(tmp_path, FAMILIES[name]) as tree:
        family = family_of(tree, name)
        os.kill(psutil.Process(tree.guard_pid).ppid(), signal.SIGKILL)
        until(lambda: gone([*family, tree.guard_pid]), limit_s=2)


@pytest.mark.parametrize("name", FAMILIES)
def test_grandchildren_die_when_harness_and_guard_are_killed(tmp_path: Path, name: str) -> None:
    with Forked(["-c", HARNESS, str(tmp_path), "sh", "-c", FAMILIES[name]], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as harness:
        assert harness.stdout
        guard_pid = int(harness.stdout.readline().split()[0])
        until(lambda: sleeps(psutil.Process(guard_pid).children(recursive=True)) == SLEEPS[name])
        family = [process.pid for process in psutil.Process(guard_pid).children(recursive=True)]
        harness.kill()
        os.kill(guard_pid, signal.SIGKILL)
        until(lambda: gone([guard_pid, *family]), limit_s=2)


@pytest.mark.parametrize("name", FAMILIES)
def test_grandchildren_die_when_keeper_and_guard_are_killed_together(tmp_path: Path, name: str) -> None:
    with start(tmp_path, FAMILIES[name]) as tree, start(tmp_path, FAMILIES[name]) as other:
        family, untouched = family_of(tree, name), family_of(other, name)
        keeper = psutil.Process(tree.guard_pid).ppid()
        os.kill(keeper, signal.SIGSTOP)  # so that neither can react to the death of the other
        os.kill(tree.guard_pid, signal.SIGSTOP)
        os.kill(tree.guard_pid, signal.SIGKILL)
        os.kill(keeper, signal.SIGKILL)
        with pytest.raises(StopError, match=GONE):
            tree.wait(5)
        tree.kill()
        until(lambda: gone(family), limit_s=2)
        assert not any(gone([pid]) for pid in untouched)


def test_processes_of_a_guard_that_takes_time_to_end_are_killed() -> None:
    """On a busy machine, a killed process can take a while to end. Its children become children of the harness only after its end."""
    adopt_orphans()
    script = "setsid sleep 1000 & echo $!; exec sleep 0.3"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True) as slow:
        assert slow.stdout
        child = int(slow.stdout.readline())
        end_adopted((), slow.pid)
        assert gone([slow.pid, child])


def test_children_of_a_process_that_ends_while_it_is_looked_at_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its children are listed below it and become children of the harness a moment later."""
    adopt_orphans()
    status = psutil.Process.status

    def end_first(process: psutil.Process) -> str:
        if process.pid == parent.pid:
            os.kill(process.pid, signal.SIGKILL)
            until(lambda: status(process) == psutil.STATUS_ZOMBIE)
        return status(process)

    script = "setsid sleep 1000 & echo $!; wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        monkeypatch.setattr(psutil.Process, "status", end_first)
        end_adopted((), None)
        monkeypatch.undo()
        assert gone([child])


def test_the_keeper_is_not_part_of_the_measured_tree(tmp_path: Path) -> None:
    with start(tmp_path, "exec sleep 1000") as tree:
        assert [process.pid for process in psutil.Process(tree.guard_pid).children(recursive=True)] == list(tree.pids)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="requires root and setpriv")
def test_a_set_uid_target_does_not_kill_the_guard(tmp_path: Path) -> None:
    """Like a set-uid program, the target runs as a user whose processes the harness isn't allowed to signal.

    The test hides control groups, because the harness could otherwise kill the target through its control group.
    """
    argv = [*WITHOUT_GROUPS, "setpriv", "--bounding-set", "-kill", sys.executable, "-c", HARNESS, str(tmp_path)]
    target = ["setpriv", "--reuid", "65534", "--clear-groups", "sleep", "1000"]
    with subprocess.Popen([*argv, *target], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout
        _, pid = map(int, harness.stdout.readline().split())
        try:
            until(lambda: psutil.Process(pid).name() == "sleep")
            said, _ = harness.communicate("stop\n", timeout=30)
        finally:
            os.kill(pid, signal.SIGKILL)
    assert said == f"SIGKILL did not end sleep (pid {pid})\n"


def test_a_signal_that_is_not_permitted_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    guard.send_signal(1, signal.SIGKILL)


@pytest.fixture
def delegated() -> Iterator[Path]:
    """Yield a control group (version 2) that this process may change."""
    parent = Path("/sys/fs/cgroup")
    parent = parent if (parent / "cgroup.procs").exists() else parent / "unified"
    group = parent / f"httpbench-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("control groups cannot be made here")
    try:
        if not (group / "cgroup.kill").exists():
            pytest.skip("the kernel has no cgroup.kill")
        yield group
    finally:
        until(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()


def test_a_delegated_control_group_is_killed_in_one_step(tmp_path: Path, delegated: Path) -> None:
    enter = f'echo $$ > {delegated}/cgroup.procs; exec "$@"'
    argv = ["sh", "-c", enter, "sh", sys.executable, "-c", HARNESS, str(tmp_path), "sh", "-c", FAMILIES["double fork"]]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout
        guard_pid = int(harness.stdout.readline().split()[0])
        (inner,) = [path for path in delegated.iterdir() if path.is_dir()]
        until(lambda: len((inner / "cgroup.procs").read_text().split()) >= SLEEPS["double fork"])
        family = list(map(int, (inner / "cgroup.procs").read_text().split()))
        assert guard_pid not in family
        (inner / "cgroup.kill").write_text("1")  # as the guard does
        until(lambda: gone(family))
        harness.communicate("stop\n", timeout=30)
    assert not inner.exists()


@pytest.mark.parametrize("number", [guard.SYS_CLONE3, 1_000_000], ids=["clone3", "no clone3"])
def test_a_command_starts_in_its_control_group(delegated: Path, number: int) -> None:
    """Test with and without clone3, because some containers forbid it."""
    script = (
        f"import os\nfrom httpbench.isolate import guard\nguard.SYS_CLONE3 = {number}\npid = guard.fork_into('{delegated}')\n"
        "if pid == 0:\n    os.execvp('cat', ['cat', '/proc/self/cgroup'])\nos.waitpid(pid, 0)"
    )
    with Forked(["-c", script], stdout=subprocess.PIPE, text=True) as process:
        said, _ = process.communicate(timeout=20)
    assert said.splitlines()[-1] == f"0::/{delegated.name}"


def test_children_are_found_without_the_kernels_child_lists(tmp_path: Path) -> None:
    """The test simulates a kernel without CONFIG_PROC_CHILDREN."""

    def found(tree: ProcessTree) -> list[int]:
        below, pending = [], [tree.guard_pid]
        by_parent = guard.children_by_parent()
        while pending:
            children = by_parent.get(pending.pop(), [])
            below += children
            pending += children
        return sorted(below)

    with start(tmp_path, FAMILIES["double fork"]) as tree:
        until(lambda: found(tree) == sorted(family_of(tree, "double fork")))  # some shells may still be ending


def test_a_guard_that_was_stopped_still_ends_its_tree(tmp_path: Path) -> None:
    with start(tmp_path, "sleep 1000") as tree:
        os.kill(tree.guard_pid, signal.SIGSTOP)
        begin = time.monotonic()
    assert time.monotonic() - begin < 5
    assert gone([tree.guard_pid, *tree.pids])


def test_the_last_command_runs_only_if_the_harness_is_killed(tmp_path: Path) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from httpbench.isolate import Command, ProcessTree
folder, how = Path(sys.argv[1]), sys.argv[2]
sleep, last = Command(("sleep", "1000"), folder, {}), Command(("sh", "-c", "echo $$ >last"), folder, {})
with ProcessTree([sleep], stdout=folder / "log", stderr=folder / "log", last=last) as tree:
    print(*tree.pids, flush=True)
    if how != "killed":
        tree.stop(0.2)
        tree.release()
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
"""
    for how in ("stopped", "killed"):
        with Forked(["-c", script, str(tmp_path), how], stdout=subprocess.PIPE, text=True) as process:
            said, _ = process.communicate(timeout=60)
        pids = [int(pid) for pid in said.split()]
        assert len(pids) == 1
        until(partial(gone, pids))
        assert how == "killed" or not (tmp_path / "last").exists(), how
    until(lambda: (tmp_path / "last").exists())


def test_a_process_id_that_was_reused_is_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first scan finds a process that ends before the second scan. By then, another program has the id of that process."""
    with subprocess.Popen(["sleep", "1000"]) as ours, subprocess.Popen(["sleep", "1000"]) as other:
        monkeypatch.setattr(guard, "descendants", lambda: [ours.pid])
        guard.kill([ours.pid, other.pid])
        assert ours.wait(5) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()


@pytest.mark.parametrize("how", ["stop", "kill"])
@pytest.mark.parametrize("ending", ["release", "death"])
def test_the_last_command_runs_if_the_harness_dies_before_it_has_cleaned_up(tmp_path: Path, how: str, ending: str) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from httpbench.isolate import Command, ProcessTree
folder, how, ending = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
sleep, last = Command(("sleep", "1000"), folder, {}), Command(("touch", "last"), folder, {})
tree = ProcessTree([sleep], stdout=folder / "log", stderr=folder / "log", last=last)
print(*tree.pids, flush=True)
tree.stop(0.2) if how == "stop" else tree.kill()
tree.kill()
assert not Path(f"/proc/{tree.pids[0]}").exists()
os.kill(os.getpid(), signal.SIGKILL) if ending == "death" else tree.release()
"""
    with Forked(["-c", script, str(tmp_path), how, ending]) as process:
        assert process.wait(60) == (-signal.SIGKILL if ending == "death" else 0)
    if ending == "death":
        until(lambda: (tmp_path / "last").exists())
    else:
        time.sleep(0.3)
        assert not (tmp_path / "last").exists()
