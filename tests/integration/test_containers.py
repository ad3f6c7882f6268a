"""Tests of targets in real containers: their limits are in force, and nothing is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import containers
from tests.harness import Harness
from tests.programs import program
from tests.waiting import until, while_running

pytestmark = pytest.mark.container

QUICK = ("-c", "16", "--warmup", "200ms", "--export-json", "-", "-q")


@pytest.fixture(scope="module")
def golang(tmp_path_factory: pytest.TempPathFactory, debian_base: str) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("targets")
    return folder, containers.golang_target(folder, debian_base)


def bench(harness: Harness, golang: tuple[Path, str], *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    folder, target = golang
    return harness.run("bench", "--targets", str(folder), target, "--isolate", "docker", *QUICK, *words, **options)


def test_a_container_is_measured_within_its_limits_and_leaves_nothing(harness: Harness, golang: tuple[Path, str]) -> None:
    """The quota is so small that the container also reaches it on a busy machine."""
    before = containers.ours()
    done = bench(harness, golang, "-d", "2s", "--rounds", "1", "--cpus", "0.1", "--memory", "256m")
    (result,) = json.loads(done.stdout)["results"]
    (round_,) = result["rounds"]
    container, usage = round_["container"], round_["target_usage"]
    assert (container["cpus"], container["memory_bytes"]) == (0.1, 256 << 20), done.stderr
    assert container["cpuset"] == round_["cores"]["target"]
    assert container["burned_cpus"] is None or container["burned_cpus"] <= 0.105
    assert "--cpus 0.1 --memory 256m" in container["command"]
    assert abs(usage["cpu_cores_mean"] - 0.1) < 0.02, usage["cpu_cores_mean"]
    assert usage["throttled_share"] > 0.5 and usage["throttled_s"] > 0.5
    assert usage["group_bytes_peak"] > 1_000_000
    assert usage["oom_kills"] == 0
    assert result["verdict"]["kind"] in ("target", "disturbed"), result["verdict"]
    assert "the target's CPU quota stopped it" in "; ".join(result["verdict"]["reasons"]), "also if other programs disturb the trial"
    assert containers.ours() == before


def test_the_start_of_a_container_is_measured(harness: Harness, golang: tuple[Path, str]) -> None:
    folder, target = golang
    options = ("--startup", "--rounds", "1", "-d", "300ms", "--rest", "0ms", "-c", "4", "--export-json", "-", "-q")
    done = harness.run("bench", "--targets", str(folder), target, "--isolate", "docker", *options)
    ((round_,),) = [result["rounds"] for result in json.loads(done.stdout)["results"]]
    startup = round_["startup"]
    assert startup["ready_s"] * 1e6 > startup["first_us"] > 0, done.stderr
    assert 1_000_000 < startup["rss_bytes_ready"] < startup["installed_bytes"], "the image contains more than the server"


def test_a_container_gets_a_certificate(harness: Harness, golang: tuple[Path, str]) -> None:
    done = bench(harness, golang, "--tls", "--http2", "-d", "200ms", "--rounds", "1")
    ((round_,),) = [result["rounds"] for result in json.loads(done.stdout)["results"]]
    assert round_["measurement"]["requests"]["ok"] > 100 and round_["measurement"]["tls_handshakes"]["full"] >= 16, done.stderr
    assert "target=/tls/cert.pem,readonly" in round_["container"]["command"]
    refused = bench(harness, golang, "--tls", "--network", "bridge", "-d", "200ms", "--rounds", "1")
    assert "its certificate requires an address that is known before it starts" in refused.stdout + refused.stderr


def test_a_limit_that_is_not_in_force_makes_every_trial_invalid(harness: Harness, golang: tuple[Path, str], tmp_path: Path) -> None:
    """Wrap docker in a script that drops ``--cpus`` and its value."""
    script = f"""
words=''
while [ $# -gt 0 ]; do
    if [ "$1" = --cpus ]; then shift; else words="$words '$1'"; fi
    shift
done
eval exec {shutil.which("docker")} $words"""
    program(tmp_path, "docker", script)
    env = {**harness.env, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = bench(harness, golang, "-d", "300ms", "--rounds", "2", "--cpus", "0.5", env=env)
    (result,) = json.loads(done.stdout)["results"]
    assert done.returncode == 1
    assert [round_["verdict"]["kind"] for round_ in result["rounds"]] == ["invalid"] * len(result["rounds"])
    assert result["verdict"]["reasons"][0].startswith("--cpus 0.5 is not in force"), result["verdict"]


def test_a_target_that_runs_out_of_memory_is_reported(harness: Harness, debian_base: str, tmp_path: Path) -> None:
    target = containers.growing_target(tmp_path, debian_base)
    words = ("--targets", str(tmp_path), target, "--isolate", "docker", "--memory", "64m", "-d", "3s", "--rounds", "1")
    done = harness.run("bench", *words, *QUICK)
    (result,) = json.loads(done.stdout)["results"]
    assert result["verdict"]["kind"] != "target"
    assert "out of memory: the kernel killed it at its limit, --memory 64m" in result["verdict"]["reasons"][0], result["verdict"]


def kill_during_a_trial(harness: Harness, golang: tuple[Path, str], *, with_guards: bool = True) -> None:
    """Kill the harness during a trial. If its guards are killed, too, it leaves a container behind."""
    folder, target = golang
    words = ("bench", "--targets", str(folder), target, "--isolate", "docker", "-d", "60s", "--warmup", "0s", "--rounds", "1")
    killed = harness.start(*words)
    while_running(killed, lambda: containers.docker("ps", "--quiet", "--filter", "label=httpbench.owner"))
    if with_guards:
        killed.send_signal(signal.SIGSTOP)
        for process in psutil.Process(killed.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)


@pytest.mark.parametrize("frozen", [False, True])
def test_the_guard_removes_the_container_of_a_killed_harness(harness: Harness, golang: tuple[Path, str], frozen: bool) -> None:
    before = containers.ours()
    folder, target = golang
    words = ("bench", "--targets", str(folder), target, "--isolate", "docker", "-d", "60s", "--warmup", "0s", "--rounds", "1")
    killed = harness.start(*words)
    while_running(killed, lambda: containers.docker("ps", "--quiet", "--filter", "label=httpbench.owner"))
    if frozen:
        containers.docker("pause", containers.docker("ps", "--quiet", "--filter", "label=httpbench.owner"))
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    until(lambda: containers.ours() == before, 30)
    assert "removed" not in harness.bench("c/epoll/edge").stderr, "its mark is gone, too"


def test_the_next_command_removes_what_a_killed_harness_left(harness: Harness, golang: tuple[Path, str]) -> None:
    before = containers.ours()
    kill_during_a_trial(harness, golang)
    assert containers.docker("ps", "--all", "--quiet", "--filter", "label=httpbench.owner")
    said = harness.run("doctor")
    assert "a container that an earlier httpbench left behind" in said.stdout, said.stdout
    done = bench(harness, golang, "-d", "200ms", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    assert "removed 1 container left behind" in done.stderr
    assert containers.ours() == before


def test_a_command_without_containers_removes_what_a_killed_harness_left(harness: Harness, golang: tuple[Path, str]) -> None:
    before = containers.ours()
    kill_during_a_trial(harness, golang)
    done = harness.bench("c/epoll/edge")
    assert "removed 1 container left behind" in done.stderr
    assert containers.ours() == before
    assert "removed" not in harness.bench("c/epoll/edge").stderr


def test_ctrl_c_removes_the_container(harness: Harness, golang: tuple[Path, str]) -> None:
    folder, target = golang
    before = containers.ours()
    words = ("bench", "--targets", str(folder), target, "--isolate", "docker", "-d", "60s", "--warmup", "0s", "--rounds", "1")
    process = harness.start(*words)
    while_running(process, lambda: containers.docker("ps", "--quiet", "--filter", "label=httpbench.owner"))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert containers.ours() == before


def test_build_stages_are_removed(harness: Harness, debian_base: str, tmp_path: Path) -> None:
    """Docker's legacy builder leaves an untagged image for each stage."""
    target = containers.growing_target(tmp_path, debian_base)
    dockerfile = tmp_path / "growing" / "Dockerfile"
    marked = f"LABEL httpbench.target={tmp_path.name}\n"
    dockerfile.write_text(
        f"ARG BASE\nFROM ${{BASE}} AS build\n{marked}COPY server /\nFROM ${{BASE}}\nWORKDIR /app\nCOPY --from=build /server ./\n"
    )
    env = {**harness.env, "DOCKER_BUILDKIT": "0"}
    done = harness.run("bench", "--targets", str(tmp_path), target, "--isolate", "docker", "-d", "200ms", "--rounds", "1", *QUICK, env=env)
    assert json.loads(done.stdout)["results"], done.stderr
    stages = ("images", "--all", "--quiet", "--filter", f"label=httpbench.target={tmp_path.name}")
    assert containers.docker(*stages) == ""


@pytest.fixture
def daemon() -> Iterator[containers.PrivateDaemon]:
    with tempfile.TemporaryDirectory(prefix="hb-docker-", ignore_cleanup_errors=True) as folder:
        found = containers.PrivateDaemon(Path(folder))
        try:
            found.start()
            yield found
        finally:
            found.close()


def test_a_daemon_restart_during_a_trial_leaves_no_container(harness: Harness, daemon: containers.PrivateDaemon, tmp_path: Path) -> None:
    containers.compile_server(tmp_path / "server")
    with tarfile.open(tmp_path / "image.tar", "w") as archive:
        archive.add(tmp_path / "server", "server")
    settings = ("--change", 'CMD ["/server", "127.0.0.1", "18080"]', "--change", "EXPOSE 18080")
    daemon.docker("import", *settings, str(tmp_path / "image.tar"), "own:1")
    env = {**harness.env, **daemon.env}
    process = harness.start("run", "--image", "own:1", "-d", "30s", "--warmup", "0s", "--rounds", "1", "-q", "--export-json", "-", env=env)
    while_running(process, lambda: "httpbench-loadgen" in {child.name() for child in psutil.Process(process.pid).children(recursive=True)})
    daemon.stop()
    daemon.start()
    printed, errors = process.communicate(timeout=90)
    (result,) = json.loads(printed)["results"]
    assert process.returncode == 1
    assert result["verdict"]["kind"] in ("invalid", "failed"), errors
    assert daemon.docker("ps", "--all", "--quiet").stdout == ""


def test_the_users_own_images_can_be_compared(harness: Harness, golang: tuple[Path, str], debian_base: str) -> None:
    folder, _ = golang
    images = ("httpbench-test-web:1", "httpbench-test-web:2")
    for image in images:
        env = {**os.environ, "DOCKER_BUILDKIT": "0"}
        argv = ["docker", "build", "--build-arg", f"BASE={debian_base}", "--tag", image, str(folder / "contained")]
        subprocess.run(argv, check=True, capture_output=True, env=env, timeout=120)
    words = [word for image in images for word in ("--image", image)]
    try:
        done = harness.run("run", *words, "-d", "500ms", "--rounds", "3", *QUICK)
    finally:
        containers.docker("rmi", *images)
    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert {result["target"] for result in document["results"]} == {
        "command/httpbench-test-web-1@docker",
        "command/httpbench-test-web-2@docker",
    }
    assert document["comparisons"]


def test_a_container_in_a_bridge_network_is_loaded_at_its_own_address(harness: Harness, golang: tuple[Path, str]) -> None:
    folder, target = golang
    words = ("--targets", str(folder), target, "--isolate", "docker", "--network", "bridge")
    done = harness.run("bench", *words, "-d", "500ms", "--rounds", "1", *QUICK)
    (result,) = json.loads(done.stdout)["results"]
    assert result["target"] == f"{target}@docker-bridge", done.stderr
    assert result["verdict"]["kind"] not in ("failed", "invalid"), result["verdict"]


def test_the_contract_is_checked_inside_a_container(harness: Harness, golang: tuple[Path, str]) -> None:
    folder, target = golang
    done = harness.run("verify", "--targets", str(folder), target, "--isolate", "docker", "--scaling", "single")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{target}@docker single: passed" in done.stdout
