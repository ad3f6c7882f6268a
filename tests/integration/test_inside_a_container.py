"""Tests of httpbench inside a container, as docs/containers.md describes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from httpbench.paths import root
from tests import containers
from tests.dockerfiles import parse
from tests.harness import Harness

pytestmark = pytest.mark.container

PASSED_ON = ("PATH", "PYTHONPATH", "COLUMNS")
PULL_LIMIT_S, BUILD_LIMIT_S = 60, 1800
REFUSED_BY_ENGINE = 125
IMAGE = "httpbench-test-image"


@pytest.mark.parametrize("flags", [(), ("--privileged",)], ids=["default", "privileged"])
def test_httpbench_measures_inside_a_container(harness: Harness, debian_base: str, flags: tuple[str, ...]) -> None:
    """The container uses this machine's programs, because the base images of httpbench's own image may not be available here."""
    env = {name: value for name, value in harness.env.items() if name in PASSED_ON or name.startswith("HTTPBENCH_")}
    env |= {name: str(harness.home) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    programs = Path(os.environ.get("HTTPBENCH_PROGRAMS", root() / "target" / "release"))
    system = [path for path in Path("/usr").iterdir() if path.is_dir() and path.name != "sbin"]  # the engine puts its init program in sbin
    folders = dict.fromkeys((*system, Path(sys.prefix), Path(sys.base_prefix), root(), programs, harness.home))
    shared = [word for folder in folders if folder != Path("/usr") for word in ("--volume", f"{folder}:{folder}")]
    passed = [word for name, value in env.items() for word in ("--env", f"{name}={value}")]
    words = ("bench", "c/epoll/edge", "-c", "8", "-d", "300ms", "--warmup", "100ms", "--rounds", "1", "--export-json", "-", "-q")
    argv = ["docker", "run", "--rm", "--init", *flags, *shared, *passed, debian_base, *harness.argv(*words)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    if flags and done.returncode == REFUSED_BY_ENGINE:
        pytest.skip(f"no privileged container here: {' '.join(done.stderr.split())[-200:]}")
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    (round_,) = result["rounds"]
    assert round_["verdict"]["kind"] not in ("failed", "invalid"), round_["verdict"]
    assert round_["measurement"]["throughput_rps"] > 0


@pytest.fixture
def image(docker_engine: str) -> Iterator[str]:
    """Build the image with ``make image``."""
    registry, *bases = parse((root() / "Dockerfile").read_text()).arguments.values()
    for base in (base.replace("${REGISTRY}", registry) for base in bases):
        if subprocess.run([docker_engine, "image", "inspect", base], capture_output=True, check=False).returncode != 0:
            _pull(docker_engine, base)
    subprocess.run(["make", "image", f"IMAGE={IMAGE}"], cwd=root(), check=True, timeout=BUILD_LIMIT_S)
    yield IMAGE
    containers.docker("rmi", IMAGE)


def _pull(engine: str, base: str) -> None:
    """Pull a base image, or skip the test if that fails."""
    try:
        done = subprocess.run([engine, "pull", base], capture_output=True, text=True, timeout=PULL_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"base image {base} cannot be had within {PULL_LIMIT_S} s")
    if done.returncode != 0:
        pytest.skip(f"base image {base} cannot be had: {done.stderr.strip()[-200:]}")


@pytest.mark.timeout(BUILD_LIMIT_S + 600)
def test_the_image_can_measure_and_open_a_shell(image: str) -> None:
    run = ["docker", "run", "--rm", "--init", "--privileged"]
    words = ("bench", "c/epoll/edge", "golang/net-http", "-d", "1s", "--rounds", "1", "--retries", "0", "--export-json", "-")
    done = subprocess.run([*run, image, *words], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["results"]) == 2
    shell = subprocess.run(["make", "-n", "shell", f"IMAGE={image}"], cwd=root(), capture_output=True, text=True, check=True)
    line = shell.stdout.splitlines()[-1].replace("--interactive --tty", "--interactive").replace("--volume httpbench:/root ", "")
    asked = subprocess.run(line, shell=True, input="httpbench --version && make -n single\n", capture_output=True, text=True, check=False)
    assert "httpbench bench --suite http-servers" in asked.stdout, asked.stderr
