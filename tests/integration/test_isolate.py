"""Tests of process trees with real processes."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from httpbench import load
from httpbench.errors import StartError
from httpbench.isolate import Command, ProcessTree, accepts, free_port, listeners, require_free, tail
from httpbench.report.words.reasons import sentence
from tests.forked import Forked
from tests.harness import PYTHON
from tests.waiting import gone, until

CRASH = """
import os, sys
from pathlib import Path
from httpbench.isolate import Command, ProcessTree
folder = Path(sys.argv[1])
script = "trap '' TERM; setsid sleep 1000 & echo $! > child; (sleep 1001 &) ; echo $$ > parent; wait"
tree = ProcessTree([Command(("sh", "-c", script), folder, {})], stdout=folder / "log", stderr=folder / "log")
print(tree.guard_pid, flush=True)
sys.stdin.read()
"""


def start(folder: Path, script: str, **options: object) -> ProcessTree:
    log = folder / "log"
    return ProcessTree([Command(("sh", "-c", script), folder, {}, **options)], stdout=log, stderr=log)  # type: ignore[arg-type]


def test_a_command_gets_its_folder_environment_and_cpus(tmp_path: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    script = "pwd; echo $COLOR; grep Cpus_allowed_list /proc/self/status; cat /proc/self/oom_score_adj"
    log = tmp_path / "log"
    with ProcessTree([Command(("sh", "-c", script), tmp_path, {"COLOR": "green"}, (cpu,))], stdout=log, stderr=log) as tree:
        end = tree.wait(10)
    assert end is not None
    assert end.code == 0
    assert log.read_text().split() == [str(tmp_path), "green", "Cpus_allowed_list:", str(cpu), "500"]


def test_a_command_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="cannot start no-such-program: No such file or directory"):
        ProcessTree([Command(("no-such-program",), tmp_path, {})], stdout=tmp_path / "log", stderr=tmp_path / "log")


def test_a_timer_tells_when_a_command_was_executed(tmp_path: Path) -> None:
    timer, log = load.timer("native").program(), tmp_path / "log"
    script = "echo $0; grep SigIgn /proc/self/status; exec sleep 10"
    timed, plain = (Command(("sh", "-c", script, name), tmp_path, {}, timer=path) for name, path in (("timed", timer), ("plain", None)))
    before_ns = time.monotonic_ns()
    with ProcessTree([timed, plain], stdout=log, stderr=log) as tree:
        executed_ns, unknown = tree.executed_ns
        assert executed_ns is not None and before_ns < executed_ns < time.monotonic_ns()
        assert unknown is None
        words = until(lambda: found if len(found := log.read_text().split()) == 6 else None)
        assert tree.stop(5).ignored_sigterm == (), "the process is the command itself"
    assert words is not None
    ignored = [value for name, value in itertools.pairwise(words) if name == "SigIgn:"]
    assert ignored[0] == ignored[1], "the timer changes no signals"


def test_a_timed_command_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    command = Command(("no-such-program",), tmp_path, {}, timer=load.timer("native").program())
    with pytest.raises(StartError, match="cannot start no-such-program: No such file or directory"):
        ProcessTree([command], stdout=tmp_path / "log", stderr=tmp_path / "log")
    broken = Command(("sh",), tmp_path, {}, timer="/no/such/timer")
    with pytest.raises(StartError, match="cannot start sh: No such file or directory"):
        ProcessTree([broken], stdout=tmp_path / "log", stderr=tmp_path / "log")


def test_the_exit_code_or_signal_is_reported(tmp_path: Path) -> None:
    with start(tmp_path, "exit 7") as tree:
        assert str(tree.wait(10)) == "exit code 7"
    with start(tmp_path, "kill -9 $$") as tree:
        assert str(tree.wait(10)) == "killed by signal 9"


def test_stop_lets_a_program_end_by_itself(tmp_path: Path) -> None:
    # The sleeps are short. If SIGTERM misses a child between fork and exec, the child still ends soon.
    with start(tmp_path, "trap 'echo bye; exit 0' TERM; echo up; while true; do sleep 0.05; done") as tree:
        until(lambda: "up" in (tail(tmp_path / "log") or ""))
        stopped = tree.stop(2)
    assert stopped.problem is None
    assert (tail(tmp_path / "log") or "").splitlines()[-1] == "bye"


@pytest.mark.parametrize("option", ["-c", "-ec"])
def test_a_shell_is_stopped_together_with_the_program_it_waits_for(tmp_path: Path, option: str) -> None:
    log = tmp_path / "log"
    with ProcessTree([Command(("bash", option, "echo up; sleep 1000; true"), tmp_path, {})], stdout=log, stderr=log) as tree:
        until(lambda: "up" in (tail(log) or ""))
        stopped = tree.stop(2)
    assert stopped.problem is None


def test_a_program_that_ignores_sigterm_is_killed_and_reported(tmp_path: Path) -> None:
    with start(tmp_path, "trap '' TERM; echo up; while :; do sleep 0.05; done") as tree:
        until(lambda: "up" in (tail(tmp_path / "log") or ""))
        stopped = tree.stop(0.2)
    assert stopped.problem is not None
    assert "did not end on SIGTERM and was killed: sh (pid" in sentence(stopped.problem)
    assert gone(tree.pids)


def test_a_program_that_daemonizes_is_found(tmp_path: Path) -> None:
    with start(tmp_path, "setsid sh -c 'sleep 1000 & echo $! > daemon' ; exec sleep 1000") as tree:
        daemon = int(until(lambda: (tmp_path / "daemon").exists() and (tmp_path / "daemon").read_text()))
        stopped = tree.stop(0.2)
    assert stopped.left_behind == (f"sleep (pid {daemon})",)
    assert gone([daemon])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
def test_nothing_outlives_a_killed_harness(tmp_path: Path, number: signal.Signals) -> None:
    harness = Forked(["-c", CRASH, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert harness.stdin
    assert harness.stdout
    guard = int(harness.stdout.readline())
    until(lambda: (tmp_path / "parent").exists() and (tmp_path / "parent").read_text())
    family = [process.pid for process in psutil.Process(guard).children(recursive=True)]
    assert len(family) == 3
    harness.send_signal(number)
    harness.wait(10)
    until(lambda: gone([guard, *family]), limit_s=1)
    harness.stdin.close()
    harness.stdout.close()


def test_the_cpu_time_of_the_whole_tree_is_reported(tmp_path: Path) -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    with start(tmp_path, f"{PYTHON} -c '{burn}' & wait; (exec {PYTHON} -c '{burn}' &); sleep 1.2") as tree:
        tree.wait(20)
        stopped = tree.stop()
    assert 0.6 <= stopped.cpu_s < 1.2


def test_standard_error_can_be_read_while_the_program_runs(tmp_path: Path) -> None:
    with ProcessTree([Command(("sh", "-c", "echo out; echo progress >&2; sleep 1000"), tmp_path, {})], stdout=tmp_path / "out") as tree:
        assert os.read(tree.stderr, 100) == b"progress\n"
        assert (tmp_path / "out").read_text() == "out\n"


def test_ports(tmp_path: Path) -> None:
    port = free_port()
    require_free(port)
    assert listeners(port) == 0
    script = f"import socket, time; s = socket.create_server(('127.0.0.1', {port})); time.sleep(1000)"
    with start(tmp_path, f'exec {PYTHON} -c "{script}"') as tree:
        until(lambda: listeners(port) == 1)
        assert accepts(port)
        with pytest.raises(StartError, match=f"port {port} .* is in use"):
            require_free(port)
        tree.stop()
    assert not accepts(port)


def test_the_guard_does_not_spin(tmp_path: Path) -> None:
    with start(tmp_path, "sleep 1000") as tree:
        guard = psutil.Process(tree.guard_pid)
        before = sum(guard.cpu_times()[:2])
        time.sleep(0.5)
        assert sum(guard.cpu_times()[:2]) - before < 0.05


def test_only_the_end_of_a_large_log_is_kept(tmp_path: Path) -> None:
    script = (
        "i=0; while [ $i -lt 60 ]; do head -c 1048576 /dev/zero | tr '\\0' x; echo; i=$((i+1)); sleep 0.01; done; echo the end; sleep 1000"
    )
    log = tmp_path / "log"
    with start(tmp_path, script) as tree:
        until(lambda: (tail(log) or "").endswith("the end"), limit_s=30)
        until(lambda: log.stat().st_size < 40 << 20)
        stopped = tree.stop()
    assert stopped.log_bytes_dropped > 15 << 20
    assert (tail(log) or "").endswith("the end")


def test_standard_output_is_never_truncated(tmp_path: Path) -> None:
    script = "head -c 20000000 /dev/zero; sleep 0.6"
    with ProcessTree([Command(("sh", "-c", script), tmp_path, {})], stdout=tmp_path / "out") as tree:
        tree.wait(10)
    assert (tmp_path / "out").stat().st_size == 20_000_000


def test_an_impossible_program_name_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="null"):
        ProcessTree([Command(("a\0b",), tmp_path, {})], stdout=tmp_path / "log", stderr=tmp_path / "log")


def test_an_endless_line_is_truncated(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a" * 4000 + "\nthe end\n")
    assert tail(tmp_path / "log") == "a" * 500 + "…\nthe end"
