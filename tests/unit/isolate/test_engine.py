"""Tests that an absent, stopped or forbidden engine gives a clear error with a hint."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from httpbench.errors import ContainerError, RequirementError
from httpbench.isolate import engine, labels
from httpbench.model import Engine
from httpbench.run import left_behind
from tests.programs import program


def fake_docker(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program(folder, "docker", script)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    engine.version.cache_clear()


def test_an_engine_that_is_not_installed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    engine.version.cache_clear()
    with pytest.raises(RequirementError, match=r"^docker is not installed$") as caught:
        engine.version(Engine.DOCKER)
    assert caught.value.hint == "apt-get install docker.io"


@pytest.mark.parametrize(
    ("printed", "message", "hint"),
    [
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            "the docker daemon does not respond",
            "systemctl start docker",
        ),
        (
            "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
            "this user may not use the docker daemon: permission denied on its socket",
            "usermod -aG docker",
        ),
        (
            "permission denied while trying to connect to the docker API at unix:///var/run/docker.sock",
            "this user may not use the docker daemon: permission denied on its socket",
            "usermod -aG docker",
        ),
        ("flag needs an argument", "docker version failed: flag needs an argument", None),
    ],
)
def test_an_engine_that_refuses_is_an_error_with_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str, message: str, hint: str | None
) -> None:
    fake_docker(tmp_path, monkeypatch, f"echo '{printed}' >&2; exit 1")
    with pytest.raises(RequirementError) as caught:
        engine.version(Engine.DOCKER)
    assert caught.value.message == message
    assert caught.value.hint is None if hint is None else hint in (caught.value.hint or "")


def test_an_engine_that_hangs_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_docker(tmp_path, monkeypatch, "exec sleep 30")
    with pytest.raises(ContainerError, match=r"docker ps did not end within 0\.2 s"):
        engine.ask(Engine.DOCKER, "ps", timeout_s=0.2)


def test_only_containers_of_dead_harnesses_are_leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = labels.owner_label()
    machine, boot, namespace, pid, ticks = mine.split("/")
    owners = {
        "a": mine,
        "b": f"{machine}/{boot}/{namespace}/{pid}/{int(ticks) + 1}",
        "c": f"{machine}/{boot}/pid:[1]/{pid}/1",
        "d": "somebody",
        "e": f"{machine}/another-boot/{namespace}/{pid}/{ticks}",
        "f": f"another-machine/another-boot/{namespace}/{pid}/{ticks}",
    }
    lines = "\\n".join(f"{name} 0 {owner}" for name, owner in owners.items())
    fake_docker(tmp_path, monkeypatch, f"case $1 in ps) echo a b c d e f;; inspect) printf '{lines}\\n';; esac")
    assert labels.leftovers(Engine.DOCKER) == {"b": 0, "e": 0}
    assert [finding.do for finding in left_behind()] == ["docker rm --force --volumes b", "docker rm --force --volumes e"]
