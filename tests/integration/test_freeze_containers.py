"""Tests that a frozen container doesn't run, continues after a thaw, and is always removed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from httpbench.isolate import Container, Launch, freezer, guard
from httpbench.isolate.container import EngineFreezer
from httpbench.isolate.labels import leftovers
from httpbench.model import Engine, Isolation
from httpbench.run.builds.engines import remove_leftovers
from tests import containers
from tests.waiting import until

pytestmark = pytest.mark.container

IMAGE = "httpbench-test-spin:1"
PROGRAM = """
#include <pthread.h>
#include <unistd.h>
static void *spin(void *unused) { for (;;) ; return unused; }
int main(void) { pthread_t thread; pthread_create(&thread, 0, spin, 0); fork(); spin(0); }
"""
FROZEN_S = 0.3
QUICK_S = 0.05
"""Time limit for freezing a container on a busy machine. The engine's own command would take longer."""

HARNESS = """
import sys
from pathlib import Path
from httpbench.isolate import Container, Launch
from httpbench.model import Engine, Isolation
launch = Launch(isolation=Isolation(engine=Engine.DOCKER, cpus=0.5), image=sys.argv[1], cpuset=(0,))
with Container(launch, Path(sys.argv[2])) as container:
    container.freeze()
    print(launch.name, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory, docker_engine: str) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("image")
    source = ["gcc", "-O1", "-static", "-pthread", "-x", "c", "-", "-o", str(folder / "spin")]
    subprocess.run(source, input=PROGRAM, text=True, check=True, timeout=60)
    with tarfile.open(folder / "image.tar", "w") as archive:
        archive.add(folder / "spin", "spin")
    containers.docker("import", "--change", 'CMD ["/spin"]', str(folder / "image.tar"), IMAGE)
    yield IMAGE
    containers.docker("rmi", IMAGE)


@pytest.fixture(params=["group", "engine"])
def container(request: pytest.FixtureRequest, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Container]:
    """Yield a busy container that its control group or its engine can freeze."""
    if request.param == "engine":
        monkeypatch.setattr(freezer, "of_container", lambda *_: None)
    launch = Launch(isolation=Isolation(engine=Engine.DOCKER, cpus=0.5), image=image, cpuset=(min(os.sched_getaffinity(0)),))
    with Container(launch, tmp_path / "log") as found:
        until(lambda: guard.children_of(found.pid))  # the init process starts the program
        until(lambda: cpu_s(found) > 0.01)
        yield found
        if request.param == "group" and isinstance(found._freezer, EngineFreezer):
            pytest.skip("this user may not change the groups of containers")
    assert not exists(launch.name)


def exists(name: str) -> str:
    return containers.docker("ps", "--all", "--quiet", "--filter", f"name=^{name}$")


def cpu_s(container: Container) -> float:
    found = container.groups.cpu_s()
    assert found is not None
    return found


def is_still(container: Container) -> None:
    used_s = cpu_s(container)
    time.sleep(FROZEN_S)
    assert cpu_s(container) - used_s < 0.001  # a freeze may take effect only at the end of a tick


def test_a_busy_container_stands_still_until_it_is_thawed_and_is_removed_while_frozen(container: Container) -> None:
    times_s = []
    for _ in range(3):
        begin = time.monotonic()
        container.freeze()
        times_s.append(time.monotonic() - begin)
        container.freeze()
        is_still(container)
        assert container.death() is None
        container.thaw()
        container.thaw()
        used_s = cpu_s(container)
        until(lambda used_s=used_s: cpu_s(container) > used_s + 0.05)  # type: ignore[misc]
    assert isinstance(container._freezer, EngineFreezer) or min(times_s) < QUICK_S
    container.freeze()  # the fixture removes the container and checks that it is gone


def test_the_stop_of_a_frozen_container_is_as_fast_as_of_a_running_one(container: Container) -> None:
    container.freeze()
    begin = time.monotonic()
    stopped = container.stop(10)
    assert time.monotonic() - begin < 5
    assert stopped.problem is None


KILLS: dict[str, Callable[[Container], object]] = {
    "init": lambda container: os.kill(container.pid, signal.SIGKILL),
    "program": lambda container: os.kill(guard.children_of(container.pid)[0], signal.SIGKILL),
    "engine": lambda container: containers.docker("kill", container.launch.name),
}


@pytest.mark.parametrize("victim", KILLS)
def test_a_frozen_container_that_is_killed_is_noticed(container: Container, victim: str) -> None:
    container.freeze()
    KILLS[victim](container)
    assert until(container.death) in ("killed by signal 9", "exit code 137")
    container.thaw()
    container.freeze()


def test_a_frozen_container_whose_harness_was_killed_is_removed_later(image: str, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", HARNESS, image, str(tmp_path / "log")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout
        name = harness.stdout.readline().strip()
        harness.kill()
    ((left, pid),) = ((id_, pid) for id_, pid in leftovers(Engine.DOCKER).items() if id_.startswith(exists(name)))
    assert pid
    assert left in remove_leftovers(Engine.DOCKER)
    assert not exists(name)


def test_ctrl_c_removes_a_frozen_container(image: str, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", HARNESS, image, str(tmp_path / "log")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as harness:
        assert harness.stdout
        name = harness.stdout.readline().strip()
        assert exists(name)
        harness.send_signal(signal.SIGINT)
        harness.wait(30)
    assert not exists(name)
