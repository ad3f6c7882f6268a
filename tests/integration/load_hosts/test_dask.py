"""Tests of load from real Dask workers on loopback, which the tests start."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from httpbench.cluster.dask.conductor import ConductedTrial, conduct
from httpbench.cluster.dask.results import DISTRIBUTIONS
from httpbench.errors import LoadError
from httpbench.load import Job
from httpbench.model import Expectation, Load, Workload
from tests import programs, waiting
from tests.agent_results import DAY_NS
from tests.dask_cluster import Cluster, cluster
from tests.harness import Harness
from tests.own_results import keeping_programs, take_results
from tests.servers import Mode, Server, free_port

pytestmark = pytest.mark.slow

LOAD = ("-c", "11", "-d", "1s", "--warmup", "300ms", "--rounds", "1", "--timeout", "1s")
WORKLOAD = Workload(name="test", description="a test's", expect=Expectation(body="Hello, World!"))
GONE_S = 5.0
"""Time limit for a load generator to end: 2 s, plus a margin for busy machines."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(Mode.OK) as made:
        yield made


def rounds(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """Return all trials of a run with one server, from its JSON on standard output."""
    assert done.stdout, done.stderr
    found = [each for result in json.loads(done.stdout)["results"] for each in result["rounds"]]
    assert all(isinstance(each, dict) for each in found)
    return found


def trial(made: Cluster, url: str, scratch: Path, **load: Any) -> ConductedTrial:
    usual = {"connections": 10, "duration_s": 1.0, "warmup_s": 0.2, "timeout_s": 1.0}
    return ConductedTrial(made.known, len(made.workers), Job(url, WORKLOAD, Load(**{**usual, **load}), (), scratch, None))


def added(texts: list[str]) -> list[int]:
    """Return the sum of histograms, computed by the hdrhistogram package."""
    whole = HdrHistogram(1, DAY_NS, 3)
    for text in texts:
        whole.decode_and_add(text)
    return list(whole.counts)


def test_two_three_and_four_load_hosts_make_one_load(harness: Harness, pair: Cluster, server: Server) -> None:
    for name in (None, "load3", "load4"):
        if name:
            pair.add(name)
        before = server.requests
        done = harness.run("run", "--url", server.url, "--scheduler", pair.scheduler, *LOAD, "--export-json", "-")
        (found,) = rounds(done)
        measurement = found["measurement"]
        hosts = measurement["load_hosts"]
        assert [host["name"] for host in hosts] == [worker.name for worker in pair.workers]
        assert sum(host["connections"] for host in hosts) == 11
        assert sum(host["completed"] for host in hosts) == measurement["requests"]["completed"] > 0
        assert measurement["requests"]["completed"] <= server.requests - before
        assert f"{len(hosts)} load hosts generated the load." in measurement["notes"]
        assert min(host["start_ms"] for host in hosts) == 0.0
        assert pair.load_generators() == []


def test_the_result_is_the_sum_of_the_agents_results(server: Server, tmp_path: Path) -> None:
    env = keeping_programs(tmp_path / "kept")
    with cluster(tmp_path / "dask", "load1", "load2", env=env) as made:
        for rate_rps in (None, 997):
            whole = asyncio.run(conduct(trial(made, server.url, tmp_path, rate_rps=rate_rps)))
            assert_sum(whole, take_results(tmp_path / "kept"))
            if rate_rps:
                assert whole["requests"]["offered"] == rate_rps, "the schedule of one load generator for one second"


def assert_sum(whole: dict[str, Any], own: list[dict[str, Any]]) -> None:
    assert len(own) == 2
    for name, value in whole["requests"].items():
        assert value == (None if own[0]["requests"][name] is None else sum(each["requests"][name] for each in own)), name
    for name in DISTRIBUTIONS:
        if whole[name] is not None:
            assert list(HdrHistogram.decode(whole[name]["histogram"]).counts) == added([each[name]["histogram"] for each in own]), name
    for number, interval in enumerate(whole["intervals"]):
        parts = [each["intervals"][number]["histogram"] for each in own]
        assert list(HdrHistogram.decode(interval["histogram"]).counts) == added(parts)


def test_a_killed_worker_makes_its_trial_invalid_and_is_named(harness: Harness, pair: Cluster, server: Server) -> None:
    pair.add("load3")
    with Server(Mode.OK) as other:
        words = ("--url", server.url, "--url", other.url, "--scheduler", pair.scheduler)
        running = harness.start("run", *words, "-c", "6", "-d", "6s", "--warmup", "200ms", "--rounds", "1", "--export-json", "-")
        waiting.until(lambda: len(pair.load_generators()) == 3 and server.requests + other.requests > 500, 60)
        victim = pair.workers[1]
        orphans = [process.pid for process in victim.load_generators()]
        victim.kill()
        waiting.until(lambda: waiting.gone(orphans) and pair.load_generators() == [], GONE_S)
        output, errors = running.communicate(timeout=60)
    assert running.returncode == 1
    found = [each["verdict"] for result in json.loads(output)["results"] for each in result["rounds"]]
    assert [verdict["kind"] for verdict in found] == ["invalid", "invalid"], errors
    said = sorted(verdict["reasons"][0] for verdict in found)
    assert re.fullmatch(r"lost load host load2: its Dask worker at tcp://127\.0\.0\.1:\d+ is gone", said[0])
    assert said[1] == "the run began with 3 load hosts, but now there are 2: load1, load3"
    assert pair.load_generators() == []


def test_a_trial_can_use_a_worker_that_was_restarted(pair: Cluster, server: Server, tmp_path: Path) -> None:
    async def killed() -> None:
        task = asyncio.create_task(conduct(trial(pair, server.url, tmp_path, duration_s=20.0)))
        while len(pair.load_generators()) < 2 or server.requests < 500:
            await asyncio.sleep(0.05)
        pair.workers[1].kill()
        await task

    with pytest.raises(LoadError, match="lost load host load2"):
        asyncio.run(killed())
    waiting.until(lambda: pair.load_generators() == [], GONE_S)
    pair.workers.pop()
    pair.add("load2")
    whole = asyncio.run(conduct(trial(pair, server.url, tmp_path)))
    assert [host["name"] for host in whole["load_hosts"]] == ["load1", "load2"]


def test_no_load_generator_outlives_an_interrupted_run(harness: Harness, pair: Cluster, server: Server) -> None:
    words = ("--url", server.url, "--scheduler", pair.scheduler, "-c", "6", "-d", "60s", "--warmup", "0", "--rounds", "1")
    running = harness.start("run", *words)
    waiting.until(lambda: len(pair.load_generators()) == 2 and server.requests > 500, 60)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    waiting.until(lambda: pair.load_generators() == [], GONE_S)
    assert running.returncode == 130


def test_a_load_host_of_another_version_is_refused_before_the_run(harness: Harness, pair: Cluster, server: Server, tmp_path: Path) -> None:
    programs.program(tmp_path, "httpbench-loadgen", "echo httpbench-loadgen 9.9.9")
    pair.add("load3", env={"HTTPBENCH_PROGRAMS": str(tmp_path)})
    done = harness.run("run", "--url", server.url, "--scheduler", pair.scheduler, *LOAD)
    assert done.returncode == 1
    assert "load host load3 has httpbench-loadgen 9.9.9, but this machine" in done.stderr
    assert server.requests <= 1, "nothing was measured"


def test_a_load_host_reports_that_a_target_refuses_connections(pair: Cluster, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"load host load[12]: cannot connect to 127\.0\.0\.1:\d+: .*refused"):
        asyncio.run(conduct(trial(pair, f"http://127.0.0.1:{free_port()}/", tmp_path)))


def test_a_missing_scheduler_or_missing_workers_give_one_sentence(harness: Harness, server: Server, tmp_path: Path) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    done = harness.run("run", "--url", server.url, "--scheduler", address, *LOAD)
    assert done.returncode == 1 and f"no Dask scheduler responds at {address}" in done.stderr
    with cluster(tmp_path / "dask") as empty:
        done = harness.run("run", "--url", server.url, "--scheduler", empty.scheduler, *LOAD)
        assert done.returncode == 1 and f"the Dask scheduler at {empty.scheduler} has no workers" in done.stderr


def test_hosts_check_shows_each_load_host(harness: Harness, pair: Cluster) -> None:
    done = harness.run("hosts", "check", "--scheduler", pair.scheduler, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [host["name"] for host in found] == ["load1", "load2"]
    assert all(host["facts"]["cpus"] >= 1 and host["round_trip_ms"] > 0 and host["sink_rps"] > 100 for host in found)
    assert "load2" in harness.run("hosts", "check", "--scheduler", pair.scheduler).stdout
