"""Tests of tab completion. They request completions in the same way as a shell."""

from __future__ import annotations

import shlex

import pytest

from tests.harness import TARGETS, Harness


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("httpbench ve", {"verify", "versions"}),
        ("httpbench bench --qu", {"--quick", "--quiet"}),
        ("httpbench bench c/epo", {"c/epoll/level", "c/epoll/edge"}),
        (f"httpbench verify --targets {shlex.quote(str(TARGETS))} test/nee", {"test/needy"}),
    ],
)
def test_words_are_completed(harness: Harness, line: str, found: set[str]) -> None:
    words = shlex.split(line)
    env = {**harness.env, "_HTTPBENCH_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = harness.run(env=env)
    assert {word.removeprefix("plain,") for word in done.stdout.split()} == found
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(harness: Harness, shell: str) -> None:
    done = harness.run(env={**harness.env, "_HTTPBENCH_COMPLETE": f"{shell}_source"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "_HTTPBENCH_COMPLETE" in done.stdout
