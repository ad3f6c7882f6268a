"""Kill the harness at random instants, and check that nothing is left after the next command.

Each test kills ``HTTPBENCH_KILLS`` runs, by default 2. ``HTTPBENCH_SEED`` repeats the instants of an earlier test.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from httpbench import host
from httpbench.databases import SYSTEMS
from httpbench.isolate import guard
from httpbench.model.entry import Database
from tests import containers, namespaces
from tests.harness import TARGETS, Harness
from tests.integration.load_hosts.hosts_file import hosts_file
from tests.waiting import until

KILLS = int(os.environ.get("HTTPBENCH_KILLS", "2"))
SEED = int(os.environ.get("HTTPBENCH_SEED", str(time.time_ns() % 10**6)))
END_S = 30.0
LOAD = ("-c", "8", "-d", "1s", "--warmup", "300ms", "--rounds", "2", "--timeout", "5s", "--retries", "0", "--workload", "db")
GROUPS = Path("/sys/fs/cgroup")
NEXT = ("bench", "--targets", str(TARGETS), "test/misbehaving/good", "-d", "100ms", "--warmup", "0", "--rounds", "1")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]


@dataclass(slots=True)
class Scene:
    """A run that is killed again and again."""

    harness: Harness
    words: tuple[str, ...]
    """The command that is killed."""
    env: dict[str, str]
    more: Callable[[], object] = field(default=tuple)
    """Returns what a run leaves behind elsewhere, such as containers. The result must be falsy in the end."""

    temporary: Path = field(init=False)
    """The folder for temporary files of the command and of everything that it starts."""

    def __post_init__(self) -> None:
        self.temporary = Path(tempfile.mkdtemp(prefix="kills-"))
        self.temporary.chmod(0o1777)  # root's databases run as another user
        self.env = {**self.harness.env, **self.env, "TMPDIR": str(self.temporary)}

    def whole_s(self) -> float:
        """Let the command run to its end, and return how long it takes, in seconds. The first time, it also builds the target."""
        self.harness.run(*self.words, env=self.env, timeout_s=900)
        begun = time.monotonic()
        done = self.harness.run(*self.words, env=self.env, timeout_s=300)
        assert "requests/s, p50" in done.stderr, done.stdout + done.stderr
        return time.monotonic() - begun

    def kill_after(self, delay_s: float) -> bool:
        """Start the command and kill it after the delay. Return whether it was still running."""
        running = self.harness.start(*self.words, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with suppress(subprocess.TimeoutExpired):
            running.wait(delay_s)
        running.kill()
        return running.wait(30) == -signal.SIGKILL

    def left(self) -> list[object]:
        """Return the processes, shared memory and other things that are left behind."""
        return [each for each in (self._processes(), _segments() - SEGMENTS_BEFORE, _abandoned_groups(), self.more()) if each]

    def folders(self) -> list[str]:
        return [path.name for path in self.temporary.iterdir()]

    def _processes(self) -> dict[int, str]:
        mark = f"TMPDIR={self.temporary}".encode()
        found = {}
        for folder in Path("/proc").iterdir():
            with suppress(OSError, ValueError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
        return found


def _segments() -> set[str]:
    """Return the segments of shared memory that no process uses. Databases of other tests may use some."""
    posix = {path.name for path in Path("/dev/shm").iterdir() if path.name.startswith("PostgreSQL")}
    for maps in Path("/proc").glob("[0-9]*/maps") if posix else ():
        with suppress(OSError):
            text = maps.read_text()
            posix = {name for name in posix if name not in text}
    header, *lines = (line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines())
    return posix | {f"SysV {line[header.index('shmid')]}" for line in lines if line[header.index("nattch")] == "0"}


SEGMENTS_BEFORE = _segments()


def _abandoned_groups() -> list[str]:
    """Return the control groups of guards that are gone."""
    found = []
    for folder, groups, _ in os.walk(GROUPS):
        for name in groups:
            group = f"{folder}/{name}"
            with suppress(OSError):
                if name.startswith(guard.GROUP_PREFIX) and (lock := guard.lock(group)) is not None:
                    os.close(lock)
                    found.append(group)
    return found


def kill_again_and_again(scene: Scene) -> None:
    instants = random.Random(SEED)
    whole_s = scene.whole_s()
    print()
    number = 0
    for _ in range(2 * KILLS):
        delay_s = instants.uniform(0.05, whole_s)
        begun = time.monotonic()
        if not scene.kill_after(delay_s):
            continue  # this time, the command ended earlier
        number += 1
        where = f"kill {number} of {KILLS}, {delay_s:.3f} s after the start of {whole_s:.1f} s, seed {SEED}"
        killed = time.monotonic()
        with suppress(AssertionError):
            until(lambda: not scene.left(), END_S)
        ended = time.monotonic()
        assert not scene.left(), f"{where}: {scene.left()}"
        scene.harness.run(*NEXT, env=scene.env)
        assert not scene.left() and not scene.folders(), f"{where}: {scene.left()} {scene.folders()}"
        print(f"{where}: all ended {ended - killed:.2f} s after the kill ({killed - begun:.1f} s)", flush=True)
        if number == KILLS:
            break
    assert number == KILLS, f"{number} of {2 * KILLS} runs were killed before their end, seed {SEED}"
    scene.temporary.rmdir()


def engine_state() -> set[str]:
    """Return the engine's networks and httpbench's containers."""
    own = ("container", "ls", "--all", "--filter", "label=httpbench.owner", "--format", "container {{.Names}} {{.Image}} {{.Status}}")
    networks = ("network", "ls", "--format", "network {{.ID}}")
    return {line for words in (own, networks) for line in containers.docker(*words).splitlines()}


@pytest.mark.container
def test_with_containers_and_a_database(tmp_path: Path, debian_base: str) -> None:
    bases = ("httpbench.test/perl:5", "httpbench.database/library/debian:bookworm-slim")
    for base in bases:
        containers.docker("tag", debian_base, base)
    before = engine_state()
    words = ("bench", "--targets", f"techempower:{TARGETS / 'techempower'}", "perl/asks-database", "--isolate", "docker", *LOAD)

    def more() -> list[str]:
        return sorted(engine_state() - before)

    try:
        kill_again_and_again(Scene(Harness(tmp_path), words, {"HTTPBENCH_REGISTRY": "httpbench.database"}, more))
    finally:
        for base in bases:
            containers.docker("rmi", "--no-prune", base)


def test_with_a_database_and_two_load_hosts(tmp_path: Path) -> None:
    if isinstance(host.check(SYSTEMS[Database.POSTGRES].requirement), host.Unmet):
        pytest.skip("PostgreSQL is not installed: scripts/install-databases")
    with namespaces.network(tmp_path / "lab", 2) as network:
        harness = Harness(tmp_path, entrance=network.target.entrance)
        words = ("bench", "--targets", str(TARGETS / "asking"), "test/asking/honest", "-r", str(hosts_file(tmp_path, network)), *LOAD)

        def more() -> list[str]:
            programs = [line for host in network.load_hosts for part in ("httpbench", "python") for line in host.programs(part).values()]
            folders = [str(path) for host in network.load_hosts for path in (host.folder / "tmp").iterdir()]
            return [*programs, *folders, *network.target.programs("postgres").values(), *network.target.programs("ssh").values()]

        kill_again_and_again(Scene(harness, words, {}, more))
