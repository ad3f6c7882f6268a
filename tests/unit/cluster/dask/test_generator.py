"""Tests of the load generator that represents many load hosts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from httpbench.cluster.dask.conductor import ConductedTrial
from httpbench.cluster.dask.credentials import Credentials, Scheduler
from httpbench.cluster.dask.generator import EXIT_LOST, ManyHosts, Workers, notes
from httpbench.cluster.dask.merge import MergedResults
from httpbench.cluster.dask.results import separated
from httpbench.errors import LoadError, LostHostError
from httpbench.load import Job, Output
from httpbench.model import Expectation, Load, Request, Workload
from tests.agent_results import agent_result
from tests.factories import make_host_share

WORKLOAD = Workload(name="w", description="", request=Request(headers={"a": "b"}), expect=Expectation(body="Hello, World!"))
SCHEDULER = Scheduler("tls://127.0.0.1:8786", Credentials("a", "b", None))
MANY = ManyHosts(Workers(SCHEDULER, 2))


def job(scratch: Path) -> Job:
    return Job("http://10.0.0.9:80/", WORKLOAD, Load(connections=64, rate_rps=1000, warmup_max_s=None), (1,), scratch, 0.25)


def test_the_conductor_gets_the_whole_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPBENCH_PROGRAMS", "/opt/programs")
    path = Path(MANY.argv(job(tmp_path), warmup=False)[-1])
    monkeypatch.delenv("HTTPBENCH_PROGRAMS")
    trial = ConductedTrial.read(path)
    told = job(tmp_path)
    assert (trial.scheduler, trial.hosts) == (SCHEDULER, 2)
    assert path.stat().st_mode & 0o077 == 0, "it contains the key"
    assert (trial.job.url, trial.job.workload, trial.job.load, trial.job.interval_s) == (told.url, told.workload, told.load, 0.25)


def test_the_result_includes_the_share_of_each_load_host(tmp_path: Path) -> None:
    merged = MergedResults()
    for _ in range(2):
        merged.add(separated(agent_result([[1_000_000] * 50])))
    shares = [make_host_share("load1"), make_host_share("load2", start_ms=0.25)]
    document = {**merged.document(), "load_hosts": [each.model_dump() for each in shares]}
    found = MANY.measurement(job(tmp_path), Output(json.dumps(document), "", 0))
    assert found.load_hosts == tuple(shares)
    assert found.requests.ok == 100 and found.busy_cores == 0.5
    assert "2 load hosts generated the load." in found.notes


def test_a_load_with_too_few_connections_is_refused(tmp_path: Path) -> None:
    few = replace(job(tmp_path), load=Load(connections=1))
    assert MANY.refuses(few) == "2 load hosts require at least 2 connections"
    assert MANY.refuses(job(tmp_path)) is None


def test_a_failure_has_the_conductors_message(tmp_path: Path) -> None:
    said = '{"event": "progress"}\nerror: load host load2 was lost\nhint: start its worker\n'
    with pytest.raises(LoadError) as caught:
        MANY.measurement(job(tmp_path), Output("", said, 1))
    assert (caught.value.message, caught.value.hint) == ("load host load2 was lost", "start its worker")
    with pytest.raises(LoadError, match="was killed by signal 9, without a result"):
        MANY.measurement(job(tmp_path), Output("", "", -9))


def test_a_lost_load_host_is_distinguished_from_a_failed_load(tmp_path: Path) -> None:
    for code, is_lost in ((1, False), (EXIT_LOST, True)):
        with pytest.raises(LoadError) as caught:
            MANY.measurement(job(tmp_path), Output("", "error: load host load2 was lost\n", code))
        assert isinstance(caught.value, LostHostError) is is_lost


def test_starts_further_apart_than_the_round_trip_are_noted() -> None:
    assert not any("apart" in note for note in notes([make_host_share(), make_host_share("load2", start_ms=5.9)]))
    said = [note for note in notes([make_host_share(), make_host_share("load2", start_ms=12.0)]) if "apart" in note]
    assert said == ["Load hosts started up to 12 ms apart; load2 was last."]


def test_the_slowest_load_host_is_named() -> None:
    said = notes([make_host_share(), make_host_share("load2", lag_us_p99=3140.0)])
    assert said[-1] == "load2 lagged the most: the p99 of its own lag is 3.14 ms."
    assert len(notes([make_host_share(lag_us_p99=None)])) == 1, "a closed loop has no schedule"
