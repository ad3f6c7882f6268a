"""Tests that each target has a Dockerfile next to its target.toml, and that both build and start the same program."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from httpbench.paths import manifests, root
from tests.dockerfiles import problems

FOLDERS = [path.parent for path in manifests(root() / "targets")]
GIN = root() / "targets/servers/golang/gin"
NET_HTTP = root() / "targets/servers/golang/net-http"
NGINX = root() / "targets/servers/c/nginx"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: "/".join(folder.parts[-3:]))
def test_an_image_runs_the_same_program_as_a_process(folder: Path) -> None:
    assert problems(folder) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("golang:1.26-bookworm", "golang:latest", "BUILDER is not an image of the registry with a version"),
        ("golang:1.26-bookworm", "golang:1.24-bookworm", "golang:1.24-bookworm is older than go ≥ 1.25"),
        ("${REGISTRY}/library/debian:bookworm-slim", "debian:bookworm-slim", "BASE is not an image of the registry"),
        ("USER 65534:65534", "USER root", "it runs as root"),
        ("USER 65534:65534", "USER 0:0", "it runs as root"),
        ("FROM ${BASE}", "FROM ${BUILDER}", "its stages are not"),
        ("go build -trimpath", "go build", "it does not run the build's command: go build -trimpath -o server ."),
        ("CGO_ENABLED=0", "CGO_ENABLED=1", "its build lacks CGO_ENABLED=0"),
        ("COPY go.mod go.sum main.go", "COPY go.mod main.go", "it does not copy go.sum"),
        ("go.mod go.sum", "go.mod go.sum go.work", "it copies go.work, which is not there"),
        ("/target/server ./", "/target/server ./bin/", "server is launched and not in the image"),
        ("ENTRYPOINT []\n", "", "it does not clear the entrypoint"),
        ("0.0.0.0:8080", "0.0.0.0:80", "its command is not that of target.toml"),
        ("GOMAXPROCS=1", "GOMAXPROCS=2", "its environment is not that of target.toml"),
        ("EXPOSE 8080", "EXPOSE 80", "it exposes ['80']"),
        ("FROM ${BASE}", "FROM ${BASE}\nADD https://example.org/x /", "ADD is not used here"),
    ],
)
def test_a_difference_is_reported(tmp_path: Path, old: str, new: str, problem: str) -> None:
    _assert_named(GIN, tmp_path, old, new, problem)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("ARG FEATURES=\n", "", "its build has no argument for the features: ARG FEATURES="),
        (' -tags "${FEATURES}"', "", 'it does not run the build\'s command: go build -trimpath -tags "${FEATURES}" -o server .'),
    ],
)
def test_a_difference_in_the_features_is_reported(tmp_path: Path, old: str, new: str, problem: str) -> None:
    _assert_named(NET_HTTP, tmp_path, old, new, problem)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("# One stage:", "#", "it has one stage, and no comment that says why"),
        ("nginx-light", "nginx-full", "nginx-light is not installed"),
        ("nginx-light", "nginx-light gcc", "the image holds gcc, which only a build requires"),
        ("--no-install-recommends ", "", "apt-get installs without --no-install-recommends"),
    ],
)
def test_a_difference_of_one_stage_is_reported(tmp_path: Path, old: str, new: str, problem: str) -> None:
    _assert_named(NGINX, tmp_path, old, new, problem)


def test_a_missing_dockerfile_is_reported(tmp_path: Path) -> None:
    shutil.copytree(GIN, tmp_path / "gin")
    (tmp_path / "gin/Dockerfile").unlink()
    assert problems(tmp_path / "gin") == ["there is no Dockerfile"]


def _assert_named(target: Path, tmp_path: Path, old: str, new: str, problem: str) -> None:
    folder = Path(shutil.copytree(target, tmp_path / "target"))
    text = (folder / "Dockerfile").read_text()
    assert old in text
    (folder / "Dockerfile").write_text(text.replace(old, new, 1))
    found = problems(folder)
    assert any(line.startswith(problem) for line in found), found
