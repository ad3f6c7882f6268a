from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from httpbench.errors import LoadError
from httpbench.load import Output
from httpbench.load.autocannon import LOCKED, Autocannon
from httpbench.model import Expectation, Load, Request, Workload
from tests.unit.load.recorded import job, recorded


@pytest.fixture
def autocannon(monkeypatch: pytest.MonkeyPatch) -> Autocannon:
    monkeypatch.setattr(Autocannon, "program", lambda self: "/usr/bin/autocannon")
    monkeypatch.setattr(Autocannon, "version", lambda self: "9.0.0")
    return Autocannon()


def said(stderr: str = "", latency: dict[str, float] | None = None, **changes: Any) -> Output:
    """Return autocannon's output for 1,000 correct responses over 64 connections."""
    percentiles = dict.fromkeys(("p0_001", "p2_5", "p25", "p50", "p75", "p90", "p97_5", "p99", "p99_9", "p99_99"), 3)
    seconds = {"average": 500, "stddev": 0, "min": 500, "p1": 500, "p2_5": 500, "p50": 500, "p97_5": 500, "total": 1000}
    document: dict[str, Any] = {
        "duration": 2.01,
        "samples": 2,
        "errors": 0,
        "timeouts": 0,
        "mismatches": 0,
        "statusCodeStats": {"200": {"count": 1000}},
        "latency": {"min": 1, "average": 3.21, "stddev": 0.5, "max": 9, "totalCount": 1000, **percentiles, **(latency or {})},
        "requests": {**seconds, "sent": 1064},
        "throughput": {**seconds, "total": 152_000},
    }
    return Output(json.dumps(document | changes), stderr, 0)


def test_a_run_without_errors(autocannon: Autocannon) -> None:
    told = recorded("autocannon_ok")
    found = autocannon.measurement(told.job, told.output)
    assert found.requests.completed == found.requests.ok > 100
    in_flight = told.job.load.connections * told.job.load.pipeline
    assert found.requests.sent == found.requests.completed + in_flight
    assert found.errors == {}
    assert found.throughput_rps == pytest.approx(found.requests.ok / found.duration_s)
    assert found.service_time_us is not None and found.service_time_us.count == found.requests.ok
    assert found.per_second is not None and found.per_second.seconds in (2, 3)


def test_each_pipelined_request_is_counted(autocannon: Autocannon) -> None:
    told = recorded("autocannon_pipelined")
    found = autocannon.measurement(told.job, told.output)
    assert told.server_requests is not None
    assert 0 <= told.server_requests - found.requests.completed <= told.job.load.connections * told.job.load.pipeline
    assert found.errors == {}


def test_other_statuses_are_not_ok(autocannon: Autocannon) -> None:
    told = recorded("autocannon_non_2xx")
    found = autocannon.measurement(told.job, told.output)
    assert found.requests.ok == 0 and found.throughput_rps == 0
    assert found.errors == {"unexpected_status": found.requests.completed}


def test_lost_connections_discard_the_latencies(autocannon: Autocannon) -> None:
    told = recorded("autocannon_reset")
    found = autocannon.measurement(told.job, told.output)
    assert found.errors["connection_failed"] > 0
    assert found.requests.ok > 0
    assert found.service_time_us is None
    assert any("latencies are left out" in note for note in found.notes)


def test_late_responses_are_timeouts(autocannon: Autocannon) -> None:
    told = recorded("autocannon_late")
    found = autocannon.measurement(told.job, told.output)
    assert set(found.errors) == {"timeout"}


def test_an_absent_server_is_an_error(autocannon: Autocannon) -> None:
    told = recorded("autocannon_absent")
    with pytest.raises(LoadError, match="connections were refused or reset") as caught:
        autocannon.measurement(told.job, told.output)
    assert caught.value.log_tail


def test_unanswered_requests_are_errors(autocannon: Autocannon) -> None:
    """Autocannon reports no error if a server closes a connection without a response."""
    seconds = json.loads(said().stdout)["requests"]
    found = autocannon.measurement(job(Load()), said(requests={**seconds, "sent": 1000 + 64 + 7}))
    assert found.errors == {"closed_early": 7}
    assert found.service_time_us is None


def test_wrong_bodies_are_not_ok(autocannon: Autocannon) -> None:
    found = autocannon.measurement(job(Load()), said(mismatches=5))
    assert (found.requests.ok, found.errors) == (995, {"unexpected_body": 5})


def test_a_wrong_status_with_another_body_counts_once(autocannon: Autocannon) -> None:
    found = autocannon.measurement(job(Load()), said(mismatches=5, statusCodeStats={"200": {"count": 995}, "503": {"count": 5}}))
    assert (found.requests.ok, found.errors) == (995, {"unexpected_status": 5})


def test_latencies_are_stored_with_their_resolution(autocannon: Autocannon) -> None:
    times = autocannon.measurement(job(Load()), said(latency={"p0_001": 0, "p2_5": 0, "average": 0.4})).service_time_us
    assert times is not None
    assert times.resolution_us == 1000
    assert (times.min, times.p2_5, times.mean, times.stddev) == (None, None, None, None)  # below autocannon's resolution of 1 ms
    assert (times.p50, times.p97_5, times.max) == (3000, 3000, 9000)
    assert times.p99 == 3000
    assert autocannon.measurement(job(Load()), said(latency={"stddev": 0.2})).service_time_us.stddev == 200  # type: ignore[union-attr]
    assert times.p99_9 is None  # only one of 1,000 samples lies beyond the p99.9


def test_a_minimum_that_ignores_responses_below_1_ms_is_left_out(autocannon: Autocannon) -> None:
    few = autocannon.measurement(job(Load()), said()).service_time_us
    many = autocannon.measurement(job(Load()), said(latency={"totalCount": 100_001})).service_time_us
    assert few is not None and few.min == 1000
    assert many is not None and many.min is None


def test_seconds_of_several_workers_count_once(autocannon: Autocannon) -> None:
    found = autocannon.measurement(job(Load(), cpus=(1, 2)), said(samples=4))
    assert found.per_second is not None and found.per_second.seconds == 2
    assert any("seconds of 2 workers" in note for note in found.notes)


def test_its_warnings_are_kept(autocannon: Autocannon) -> None:
    found = autocannon.measurement(job(Load()), said(stderr="\n(node:7) Warning: a leak\n"))
    assert found.notes[-1] == "autocannon warned: (node:7) Warning: a leak"


@pytest.mark.parametrize("output", [Output("", "", 0), Output("{}", "", 0), Output("", "boom", 1), said(duration=0)])
def test_unreadable_or_empty_output_is_an_error(autocannon: Autocannon, output: Output) -> None:
    with pytest.raises(LoadError, match=r"^autocannon"):
        autocannon.measurement(job(Load()), output)


@pytest.mark.parametrize(
    ("asked", "request_", "sentence"),
    [
        (Load(rate_rps=1), Request(), "has no open loop: -R"),
        (Load(keepalive=False), Request(), "-D"),
        (Load(requests_per_connection=5), Request(), "-D"),
        (Load(duration_s=1.5), Request(), "whole seconds"),
        (Load(timeout_s=0.5), Request(), "at least 1 s"),
        (Load(), Request(method="HEAD"), "HEAD"),
        (Load(), Request(method="PURGE"), "PURGE"),
        (Load(), Request(headers={"connection": "close"}), "Connection"),
    ],
)
def test_unsupported_loads_are_refused(autocannon: Autocannon, asked: Load, request_: Request, sentence: str) -> None:
    assert sentence in (autocannon.refuses(job(asked, request=request_)) or "")


def test_the_command_line(autocannon: Autocannon, tmp_path: Path) -> None:
    request = Request(method="POST", headers={"Host": "example.org", "X-A": "[1]"}, body="a b")
    load = Load(connections=100, pipeline=10, duration_s=30, timeout_s=1.5)
    argv = autocannon.argv(job(load, request=request, scratch=tmp_path, cpus=(1, 2)), warmup=False)
    for option, value in {"-c": "100", "-p": "10", "-d": "30", "-t": "1.5", "-w": "2", "-m": "POST"}.items():
        assert argv[argv.index(option) + 1] == value
    assert {"--headers=Host:example.org", "--headers=X-A:[1]", "--expectBody=Hello, World!", "--json"} <= set(argv)
    assert (tmp_path / "body").read_bytes() == b"a b" and f"--input={tmp_path / 'body'}" in argv


def test_a_warm_up_is_rounded_up_and_workers_share_connections_evenly(autocannon: Autocannon) -> None:
    argv = autocannon.argv(job(Load(connections=9, warmup_s=1.2), cpus=(1, 2, 3, 4)), warmup=True)
    assert argv[argv.index("-d") + 1] == "2"
    assert argv[argv.index("-w") + 1] == "3"
    assert "-w" not in autocannon.argv(job(Load(connections=7), cpus=(1, 2)), warmup=False)


@pytest.mark.parametrize("body", ["12.5", "-3", "0x1f", "1e9", "naïve", "x" * 200_000])
def test_a_body_that_it_cannot_compare_is_not_passed(autocannon: Autocannon, body: str) -> None:
    asked = job(Load())
    workload = Workload(name="test", description="a test's", expect=Expectation(body=body))
    changed = type(asked)(asked.url, workload, asked.load, asked.cpus, asked.scratch)
    assert not any(word.startswith("--expectBody") for word in autocannon.argv(changed, warmup=False))
    assert "autocannon did not check the bodies." in autocannon.measurement(changed, said()).notes


def test_it_is_installed_into_the_users_cache_from_a_lock_file_with_hashes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", os.devnull)
    assert Autocannon().locate() is None
    found = Autocannon().installation()
    assert found.argv[:2] == ("npm", "ci") and str(found.folder) in found.argv
    assert set(found.files) == {LOCKED / "package.json", LOCKED / "package-lock.json"}
    lock = json.loads((LOCKED / "package-lock.json").read_text())
    assert all("integrity" in package for place, package in lock["packages"].items() if place)
    program = found.folder / "node_modules" / ".bin" / "autocannon"
    program.parent.mkdir(parents=True)
    program.touch()
    assert Autocannon().locate() == str(program)
