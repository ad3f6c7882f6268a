"""Tests that a forked httpbench, which most tests use, does the same as a started one."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.forked import Forked
from tests.harness import Harness


@pytest.mark.parametrize(
    "words", [("list", "c/nginx"), ("run", "--env", "GREETING", "--cwd", ".", "server {port}", "--dry-run"), ("runs", "--x")]
)
def test_a_fork_prints_the_same_as_a_start(harness: Harness, tmp_path: Path, words: tuple[str, ...]) -> None:
    env = {**harness.env, "GREETING": "hello"}
    started = subprocess.run(harness.argv(*words), env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    with harness.start(*words, env=env, cwd=tmp_path) as forked:
        assert isinstance(forked, Forked)
        assert forked.communicate(timeout=60) == (started.stdout, started.stderr)
    assert forked.returncode == started.returncode


def test_a_fork_can_be_killed(harness: Harness) -> None:
    with harness.start("up", "c/epoll/level", start_new_session=True) as process:
        assert process.stdout is not None and process.stdout.readline().startswith("http://")
        process.send_signal(signal.SIGKILL)
        assert process.wait(10) == -signal.SIGKILL
