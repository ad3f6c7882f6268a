"""Tests of ``httpbench bisect`` with a git repository whose commits need different amounts of CPU time per request.

The gate is about CPU time, which other programs on this machine hardly change.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Harness
from tests.planted import BUILD, COMMAND, git, plant
from tests.waiting import while_running

CHEAP, DEAR = 100_000, 300_000
QUICK = ("-d", "200ms", "--warmup", "50ms", "-c", "8", "--retries", "0")
GATE = "cpu>40%"


@dataclass(frozen=True, slots=True)
class Planted:
    """A planted repository, and the command that searches it."""

    harness: Harness
    folder: Path
    commits: list[str]

    @property
    def env(self) -> dict[str, str]:
        return {**self.harness.env, "XDG_CACHE_HOME": str(self.harness.home / "cache")}

    def words(self, *options: str) -> tuple[str, ...]:
        return ("bisect", self.commits[0], "HEAD", COMMAND, "--build", BUILD, "--fail-if", GATE, *QUICK, *options)

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self.harness.run(*self.words(*options), cwd=self.folder, env=self.env, timeout_s=280)


def planted(harness: Harness, steps: list[int | None]) -> Planted:
    folder = harness.home / "repository"
    folder.mkdir()
    return Planted(harness, folder, plant(folder, steps))


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_interrupted_search_continues_and_finds_the_commit(harness: Harness) -> None:
    """The commit in the middle doesn't build. The first bad commit comes two later."""
    repository = planted(harness, [*[CHEAP] * 4, None, CHEAP, *[DEAR] * 3])
    process = harness.start(*repository.words("-q"), cwd=repository.folder, env=repository.env)
    while_running(process, lambda: list(harness.db.with_suffix(".bisect").glob("*.json")), 100)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted after 1 measurement; the same command continues the search" in errors
    done = repository.run("--json")
    assert done.returncode == 3, done.stderr
    assert "continuing after 1 measurement" in done.stderr
    found = document(done)
    assert [commit["id"] for commit in found["suspects"]] == [repository.commits[6]]
    assert found["ending"] == "found"
    assert found["before"]["id"] == repository.commits[5]
    assert found["confirmation"]["interval"]["low"] > 1.5
    answers = {step["commit"]: step["answer"] for step in found["steps"]}
    assert answers[repository.commits[-1]] == "bad" and answers[repository.commits[4]] == "skipped"
    assert not list(harness.db.with_suffix(".bisect").glob("*.json")), "the search has ended"
    assert git(repository.folder, "status", "--porcelain") == ""


@pytest.mark.slow
def test_no_commit_is_named_if_nothing_changed(harness: Harness) -> None:
    repository = planted(harness, [CHEAP, CHEAP, CHEAP])
    done = repository.run("-q")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("No commit to find: ")
    assert re.search("[12] measurements? of 1 of 2 commits", done.stdout)  # a certain one isn't repeated


@pytest.mark.parametrize("broken", [0, 2])
def test_a_search_needs_both_ends(harness: Harness, broken: int) -> None:
    steps: list[int | None] = [CHEAP, CHEAP, DEAR]
    steps[broken] = None
    done = planted(harness, steps).run("-q")
    assert done.returncode == 1
    assert "its build failed, exit code 1" in (done.stderr if broken == 0 else done.stdout)
