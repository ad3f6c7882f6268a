"""Tests of a load generator on another host: it behaves like a local one, and ends if the two hosts lose their connection."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from httpbench.errors import LostHostError, StartError
from httpbench.host.scratch import sweep
from httpbench.isolate import remote_tree
from httpbench.isolate.remote_tree import RemoteCommand, RemoteTree
from httpbench.isolate.ssh import SshConnection
from httpbench.sample.remote import AGENT_MODULES, seen_there
from tests.waiting import SPIN, gone, until

pytestmark = pytest.mark.slow

PLACE = "/scratch-here"


def start(connection: SshConnection, *argv: str, **files: str) -> RemoteTree:
    return RemoteTree(connection, RemoteCommand(argv, PLACE, files, ()), AGENT_MODULES)


def below(tree: RemoteTree) -> list[int]:
    return [process.pid for process in psutil.Process(tree._agent.pid).children(recursive=True)]


def test_output_and_exit_code_are_returned(connection: SshConnection) -> None:
    with start(connection, "sh", "-c", "echo out; echo err >&2; exit 3") as tree:
        (end,) = until(tree.exits)
        assert end.code == 3
        assert tree.stdout() == "out\n"
        assert select.select([tree.stderr], [], [], 5)[0]
        assert os.read(tree.stderr, 100) == b"err\n"


def test_arguments_name_the_files_on_the_load_host(connection: SshConnection) -> None:
    with start(connection, "cat", f"{PLACE}/body", body="größer") as tree:
        until(tree.exits)
        assert tree.stdout() == "größer"


def test_the_folder_is_removed_afterwards(connection: SshConnection) -> None:
    with start(connection, "pwd") as tree:
        until(tree.exits)
        folder = Path(tree.stdout().strip())
        assert folder not in sweep(folder.parent), "a command of httpbench on the load host leaves it alone"
        assert folder.exists()
    until(lambda: not folder.exists())


def test_cpu_time_since_the_mark_is_measured(connection: SshConnection) -> None:
    with start(connection, sys.executable, "-c", SPIN) as tree:
        time.sleep(0.3)
        tree.mark()
        time.sleep(0.5)
        report = tree.close()
    usage = seen_there(report, sorted(os.sched_getaffinity(0))).usage
    assert 0 < usage.cpu_s <= report["elapsed_s"] + 0.02
    assert usage.cpu_s < 0.8
    assert usage.threads == 1 and usage.rss_bytes_peak > 1_000_000


def test_a_stopped_program_still_has_its_output_and_cost(connection: SshConnection) -> None:
    with start(connection, "sh", "-c", "trap 'echo ended; exit 7' TERM; while true; do sleep 0.01; done") as tree:
        tree.stop()
        assert tree.stdout() == "ended\n"
        assert tree.close()["elapsed_s"] > 0


def test_a_missing_program_is_named(connection: SshConnection) -> None:
    with pytest.raises(StartError, match="cannot start no-such-program on load1: No such file"):
        start(connection, "no-such-program")


def test_everything_ends_with_the_block(connection: SshConnection) -> None:
    with start(connection, "sh", "-c", "setsid sleep 100 & sleep 100") as tree:
        pids = until(lambda: below(tree) if len(below(tree)) >= 5 else [])
    until(lambda: gone(pids), 2)


def test_the_program_ends_if_ssh_is_killed(connection: SshConnection) -> None:
    with start(connection, "sleep", "100") as tree:
        pids = below(tree)
        tree._agent.send_signal(signal.SIGKILL)
        with pytest.raises(LostHostError, match="the connection to load host load1 was lost"):
            until(tree.exits)
        until(lambda: gone(pids), 2)


def test_a_silent_host_counts_as_lost(connection: SshConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_tree, "SILENCE_S", 0.6)
    with start(connection, "sleep", "100") as tree:
        assert tree.exits() == []
        tree._agent.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(LostHostError, match=r"did not respond for 0\.6 s"):
                until(tree.exits)
        finally:
            tree._agent.send_signal(signal.SIGCONT)


def test_a_side_that_was_stopped_does_not_consider_the_other_lost(connection: SshConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_tree, "SILENCE_S", 0.6)
    with start(connection, "sleep", "100") as tree:
        tree._agent.send_signal(signal.SIGSTOP)
        time.sleep(1)  # the agent is stopped and this process sleeps, so neither checks whether the other is alive
        assert tree.exits() == []
        tree._agent.send_signal(signal.SIGCONT)
        until(lambda: tree._read(1))
        assert tree.exits() == []


def test_everything_ends_without_signs_of_life_from_the_harness(connection: SshConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_tree, "SILENCE_S", 0.6)
    monkeypatch.setattr(remote_tree, "BEAT_S", 100.0)
    with start(connection, "sleep", "100") as tree:
        pids = below(tree)
        assert pids
        until(lambda: gone(pids), 3)
