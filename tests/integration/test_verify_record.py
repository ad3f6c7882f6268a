"""Tests that ``verify`` remembers on this machine which targets passed, and that ``--record`` stores them in the project."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from httpbench import catalog
from httpbench.catalog import proofs
from httpbench.cli.main import cli
from httpbench.errors import UsageError
from httpbench.model import Scaling
from httpbench.run import Verified, is_verified_here
from tests.harness import TARGETS

CLIENT = "client:python/http-client"


def verify(*words: str) -> str:
    """Run the command in this process and return its output."""
    done = CliRunner().invoke(cli, ["verify", *words])
    if done.exception is not None:
        raise done.exception
    return done.output


def test_a_passed_target_is_remembered_here_and_recorded_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "verified.toml"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(proofs, "proofs_file", lambda: record)
    target = catalog.load().targets[CLIENT]
    assert f"{CLIENT} single: passed" in verify(CLIENT)
    assert is_verified_here(target)
    assert not record.exists()
    assert f"recorded 1 target in {record}" in verify(CLIENT, "--record")
    proof = catalog.read_proofs()[CLIENT]
    assert proof.scaling == (Scaling.SINGLE,)
    assert proof.toolchain.keys() == {"python3"}


def test_passed_targets_are_kept_after_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted_at_edge(result: Verified) -> None:
        if result.target.id == "c/epoll/edge":
            raise KeyboardInterrupt

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(proofs, "proofs_file", lambda: tmp_path / "verified.toml")
    monkeypatch.setattr("httpbench.cli.verbs.verify._show", interrupted_at_edge)
    done = CliRunner().invoke(cli, ["verify", "c/epoll/level", "c/epoll/edge", "--scaling", "single", "--record"])
    assert done.exit_code != 0
    assert list(catalog.read_proofs()) == ["c/epoll/level"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((CLIENT, "--workload", "client-large"), "--record accepts only the usual workload"),
        (("--targets", str(TARGETS), "test/misbehaving/good"), "--record keeps built-in targets only"),
        (("c/epoll/edge", "--isolate", "docker"), "--record accepts only processes, and c/epoll/edge@docker runs in a container"),
    ],
)
def test_only_proofs_of_built_in_targets_are_recorded(words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        verify(*words, "--record")
