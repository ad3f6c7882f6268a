"""Tests of the base images of a Dockerfile, and of the errors for unavailable images."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from httpbench.model import ContainerRecipe, Engine, Isolation, Target
from httpbench.run import State
from httpbench.run.builds import bases
from httpbench.run.builds.states import state_of
from tests.factories import make_target
from tests.programs import program

DOCKERFILE = """\
ARG REGISTRY=docker.io
ARG BUILDER=${REGISTRY}/library/golang:1.26-bookworm
ARG BASE="$REGISTRY/library/debian:bookworm-slim"
FROM --platform=linux/amd64 ${BUILDER} AS build
RUN go build
FROM build AS test
FROM ${BASE}
ARG LATER=1
"""


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Target:
    (tmp_path / "Dockerfile").write_text(DOCKERFILE)
    monkeypatch.delenv(bases.REGISTRY, raising=False)
    bases._can_be_had.cache_clear()
    return make_target(folder=str(tmp_path), isolation=Isolation(engine=Engine.DOCKER))


def test_arguments_are_filled_in_and_own_stages_are_left_out(target: Target) -> None:
    assert bases.bases(target) == ["docker.io/library/golang:1.26-bookworm", "docker.io/library/debian:bookworm-slim"]


def test_a_recipe_can_set_the_base(target: Target) -> None:
    recipe = ContainerRecipe(base="debian:own", build_args={"REGISTRY": "example.org", "UNKNOWN": "1"})
    changed = target.model_copy(update={"container": recipe})
    assert bases.bases(changed) == ["example.org/library/golang:1.26-bookworm", "debian:own"]


def test_the_environment_can_set_a_mirror(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(bases.REGISTRY, "mirror.example.org/docker")
    assert bases.arguments(target) == {"REGISTRY": "mirror.example.org/docker"}
    assert bases.bases(target)[0] == "mirror.example.org/docker/library/golang:1.26-bookworm"
    Path(target.folder, "Dockerfile").write_text("FROM debian:own\n")
    assert (bases.arguments(target), bases.bases(target)) == ({}, ["debian:own"])


@pytest.mark.parametrize("dockerfile", ["FROM scratch\n", ""])
def test_a_dockerfile_may_have_no_base(target: Target, dockerfile: str) -> None:
    Path(target.folder, "Dockerfile").write_text(dockerfile)
    assert bases.bases(target) == []


@pytest.mark.parametrize(
    ("had", "missing"),
    [
        ("golang|debian", None),
        ("golang", "base image docker.io/library/debian:bookworm-slim: not on this machine, and its registry does not provide it"),
        ("none", "base image docker.io/library/golang:1.26-bookworm: not on this machine, and its registry does not provide it"),
    ],
)
def test_an_unavailable_base_is_reported(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, had: str, missing: str | None
) -> None:
    _registry(tmp_path, monkeypatch, had)
    monkeypatch.setattr(bases, "is_built_in", lambda folder: True)
    state = state_of(target)
    assert (state.state, state.reason) == (State.MISSING if missing else State.NOT_BUILT, missing)
    if missing:
        assert (state.fix or "").startswith("docker pull docker.io/library/")


def test_no_registry_is_contacted_for_the_dockerfile_of_a_stranger(target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "docker", f"echo \"$@\" >>{tmp_path}/asked; echo 'no such image' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert state_of(target).state is State.NOT_BUILT
    asked = (tmp_path / "asked").read_text()
    assert "golang" not in asked
    assert "manifest" not in asked


@pytest.mark.parametrize("name", ["-H=tcp://example.org", "--help", "$(id)", "a;b", "a b"])
def test_a_base_that_is_not_a_name_never_reaches_the_engine(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    Path(target.folder, "Dockerfile").write_text(f"ARG BASE='{name}'\nFROM ${{BASE}}\n")
    program(tmp_path, "docker", f"echo \"$@\" >>{tmp_path}/asked; echo 'no such image' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(bases, "is_built_in", lambda folder: True)
    state = state_of(target)
    assert (state.state, state.reason) == (State.MISSING, f'"{name}" is not the name of an image')
    assert name not in (tmp_path / "asked").read_text()


def _registry(folder: Path, monkeypatch: pytest.MonkeyPatch, had: str) -> None:
    """Fake a docker without images. Its registry has the images that match ``had``."""
    manifest = f"""[ "$1" = manifest ] && echo "$3" | grep -qE '{had}' && exit"""
    program(folder, "docker", f"{manifest}\necho 'no such image' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
