"""Tests of faults of one of several load hosts. The current trial becomes invalid and its reason names the host; other trials are kept."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import programs, stalling_server, waiting
from tests.dask_cluster import Cluster, Worker, cluster
from tests.harness import Harness
from tests.load_host_lab import Lab
from tests.servers import Mode, Server

pytestmark = pytest.mark.slow

LOAD = ("-c", "6", "-d", "6s", "--warmup", "200ms", "--rounds", "1", "--timeout", "1s", "--export-json", "-")
JUMPING_CLOCK = """
import time
from httpbench.cluster.dask import agent

def clock_ns():
    '''Jumps by 250 ms when an agent has begun to measure, for good.'''
    has_begun = agent._ended or any(each.is_ready.is_set() for each in agent._running.values())
    return time.monotonic_ns() + 250_000_000 * bool(has_begun)

agent.clock_ns = clock_ns
"""
OWN_TEMPORARY_FOLDER = "import tempfile; tempfile.gettempdir()"
GONE_S = 10.0


class Run:
    """A run of two trials that is measuring the first one."""

    def __init__(self, harness: Harness, made: Cluster, first: Server, second: Server):
        words = ("--url", first.url, "--url", second.url, *made.options)
        self._running = harness.start("run", *words, *LOAD)
        self._made = made
        hosts = len(made.workers)
        waiting.until(lambda: len(made.load_generators()) == hosts and first.requests + second.requests > 300, 120)

    def verdicts(self) -> list[dict[str, Any]]:
        """Return the verdicts of both trials, in order."""
        output, said = self._running.communicate(timeout=240)
        assert output, said
        trials = [trial for result in json.loads(output)["results"] for trial in result["rounds"]]
        waiting.until(lambda: self._made.load_generators() == [], GONE_S)
        ordered: list[dict[str, Any]] = [trial["verdict"] for trial in sorted(trials, key=lambda trial: int(trial["number"]))]
        return ordered


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    with Server(Mode.OK) as first, Server(Mode.OK) as second:
        yield first, second


def is_kept(verdict: dict[str, Any]) -> bool:
    return verdict["kind"] not in ("invalid", "failed")


def test_the_host_of_a_killed_load_generator_is_named(harness: Harness, one: Cluster, servers: tuple[Server, Server]) -> None:
    worker = one.add("load2")
    run = Run(harness, one, *servers)
    worker.load_generators()[0].kill()
    first, second = run.verdicts()
    assert (first["kind"], first["reasons"]) == ("invalid", ["load host load2: httpbench-loadgen was killed by signal 9"])
    assert is_kept(second), second


def test_a_frozen_load_host_is_named_and_used_again_once_it_responds(
    harness: Harness, one: Cluster, servers: tuple[Server, Server]
) -> None:
    worker = one.add("load2")
    run = Run(harness, one, *servers)
    worker.process.send_signal(signal.SIGSTOP)
    waiting.until(lambda: one.workers[0].load_generators() == [], 30)
    worker.process.send_signal(signal.SIGCONT)
    first, second = run.verdicts()
    assert (first["kind"], first["reasons"]) == ("invalid", ["lost load host load2: no heartbeat arrived for 2 s"])
    assert is_kept(second), second


def test_a_load_host_with_a_clock_that_jumps_is_named(harness: Harness, one: Cluster, servers: tuple[Server, Server]) -> None:
    one.add("load2", preload=JUMPING_CLOCK)
    first, second = Run(harness, one, *servers).verdicts()
    assert first["kind"] == "invalid"
    assert re.fullmatch(r"the clock of load host load2 jumped by \d+ ms during the trial", first["reasons"][0])
    assert is_kept(second), second


def test_a_load_host_that_returns_with_another_version_is_refused(
    harness: Harness, one: Cluster, servers: tuple[Server, Server], tmp_path: Path
) -> None:
    worker = one.add("load2")
    run = Run(harness, one, *servers)
    programs.program(tmp_path, "httpbench-loadgen", "echo httpbench-loadgen 9.9.9")
    kill(one, worker)
    one.add("load2", env={"HTTPBENCH_PROGRAMS": str(tmp_path)})
    first, second = run.verdicts()
    assert first["kind"] == second["kind"] == "invalid"
    assert first["reasons"][0].startswith("lost load host load2: its Dask worker at")
    assert re.match(
        r"load host load2 has httpbench-loadgen 9\.9\.9, but this machine|the run began with 2 load hosts", second["reasons"][0]
    )


def test_a_load_host_with_a_full_disk_is_named(harness: Harness, one: Cluster, servers: tuple[Server, Server], tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(full)], check=False).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        one.add("load2", env={"TMPDIR": str(full)}, preload=OWN_TEMPORARY_FOLDER)
        fill(full)
        words = ("--url", servers[0].url, *one.options, "--expect-body", "Hello, World!")
        done = harness.run("run", *words, *LOAD)
    finally:
        subprocess.run(["umount", "--lazy", str(full)], check=True)
    (trial,) = json.loads(done.stdout)["results"][0]["rounds"]
    assert trial["verdict"]["kind"] == "invalid", done.stderr
    assert re.match(r"load host load2: .*No space left on device", trial["verdict"]["reasons"][0])


def test_a_lost_scheduler_is_reported(harness: Harness, tmp_path: Path, servers: tuple[Server, Server]) -> None:
    with cluster(tmp_path / "dask", "load1") as made:
        run = Run(harness, made, *servers)
        made.process.kill()
        first, second = run.verdicts()
    assert (first["kind"], first["reasons"]) == ("invalid", ["the Dask scheduler was lost during the trial"])
    assert second["kind"] in ("invalid", "failed") and "no Dask scheduler responds at" in second["reasons"][0]


def test_a_link_cut_for_3_s_is_reported_soon_and_the_next_trial_counts(harness: Harness, two: Lab) -> None:
    with second_server(two) as other:
        words = ("run", "--url", two.url, "--url", other, *two.cluster.options, *LOAD, "-d", "12s")
        running = replace(harness, entrance=two.network.target.entrance).start(*words)
        waiting.until(lambda: len(two.cluster.load_generators()) == 2, 120)
        time.sleep(2)
        begin = time.monotonic()
        two.network.load_hosts[1].cut()
        time.sleep(3)
        two.network.load_hosts[1].join()
        waiting.until(lambda: two.cluster.load_generators() == [], GONE_S)
        named_s = time.monotonic() - begin
        output, said = running.communicate(timeout=240)
        assert output, said
        trials = [trial for result in json.loads(output)["results"] for trial in result["rounds"]]
        first, second = (trial["verdict"] for trial in sorted(trials, key=lambda trial: int(trial["number"])))
        assert (first["kind"], first["reasons"]) == ("invalid", ["lost load host load2: no heartbeat arrived for 2 s"])
        assert named_s < 10, "long before the end of the trial"
        assert is_kept(second), second
        waiting.until(lambda: two.cluster.load_generators() == [], GONE_S)


@contextlib.contextmanager
def second_server(made: Lab) -> Iterator[str]:
    """Start another server on the target host and yield its URL."""
    address, port = made.network.target.address, "8081"
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE}
    server = made.network.target.start(sys.executable, stalling_server.__file__, address, port, "1", **pipes)
    try:
        assert server.stdout is not None and server.stdout.readline() == "listening\n"
        yield f"http://{address}:{port}/"
    finally:
        server.terminate()
        server.wait()


def fill(folder: Path) -> None:
    """Fill the disk that contains the folder."""
    with (folder / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(bytes(512))


def kill(made: Cluster, worker: Worker) -> None:
    """Kill a worker and remove it from its cluster."""
    worker.kill()
    made.workers.remove(worker)
