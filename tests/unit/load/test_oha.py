from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from httpbench.errors import LoadError
from httpbench.load import Output
from httpbench.load.oha import ERROR_KINDS, QUEUED, Oha
from httpbench.model import Arrivals, Load, Request, Trust
from tests.unit.load.recorded import job, recorded

PERCENTILES = ("p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99")


@pytest.fixture
def oha(monkeypatch: pytest.MonkeyPatch) -> Oha:
    monkeypatch.setattr(Oha, "program", lambda self: "/usr/bin/oha")
    monkeypatch.setattr(Oha, "version", lambda self: "1.16.0")
    return Oha()


def said(**changes: Any) -> Output:
    """Return oha's output for 1,000 correct responses in 2 s."""
    document: dict[str, Any] = {
        "summary": {"total": 2.0, "fastest": 0.001, "average": 0.003, "slowest": 0.009, "totalData": 13_000},
        "latencyPercentiles": dict.fromkeys(PERCENTILES, 0.003),
        "statusCodeDistribution": {"200": 1000},
        "errorDistribution": {"aborted due to deadline": 64},
    }
    return Output(json.dumps(document | changes), "", 0)


def test_a_run_without_errors(oha: Oha) -> None:
    told = recorded("oha_ok")
    found = oha.measurement(told.job, told.output)
    assert told.server_requests is not None
    assert found.requests.completed == found.requests.ok > 100
    assert 0 <= told.server_requests - found.requests.completed <= told.job.load.connections
    assert found.errors == {}, "requests that oha aborts at the end aren't errors"
    assert found.throughput_rps == pytest.approx(found.requests.ok / found.duration_s)
    assert found.bytes_received == found.requests.ok * len("Hello, World!")
    assert found.service_time_us is not None and found.service_time_us.count == found.requests.ok
    assert found.response_time_us is None


def test_figures_equal_those_in_its_output(oha: Oha) -> None:
    told = recorded("oha_ok")
    own, times = json.loads(told.output.stdout), oha.measurement(told.job, told.output).service_time_us
    assert times is not None
    for field, percentile in {"p25": "p25", "p50": "p50", "p90": "p90", "p99": "p99"}.items():
        assert getattr(times, field) == pytest.approx(own["latencyPercentiles"][percentile] * 1e6)
    assert (times.min, times.mean, times.max) == pytest.approx([own["summary"][key] * 1e6 for key in ("fastest", "average", "slowest")])


def test_percentiles_of_few_samples_are_left_out(oha: Oha) -> None:
    times = oha.measurement(job(Load()), said()).service_time_us
    assert times is not None and times.p99 == 3000 and times.p99_9 is None


def test_an_open_loop_has_response_times(oha: Oha) -> None:
    told = recorded("oha_rate")
    found = oha.measurement(told.job, told.output)
    assert found.service_time_us is None
    assert found.response_time_us is not None and found.response_time_us.p50 is not None
    assert found.throughput_rps == pytest.approx(200, rel=0.02)
    assert QUEUED in found.notes


def test_other_statuses_are_not_ok(oha: Oha) -> None:
    told = recorded("oha_non_2xx")
    found = oha.measurement(told.job, told.output)
    assert found.requests.ok == 0 and found.throughput_rps == 0
    assert found.errors == {"unexpected_status": found.requests.completed}


@pytest.mark.parametrize(("name", "kind"), [("oha_reset", "reset"), ("oha_closed", "closed_early"), ("oha_late", "timeout")])
def test_lost_and_late_requests_are_errors(oha: Oha, name: str, kind: str) -> None:
    told = recorded(name)
    found = oha.measurement(told.job, told.output)
    assert told.server_requests is not None
    assert set(found.errors) == {kind}
    assert 0 <= told.server_requests - found.requests.completed - found.errors[kind] <= told.job.load.connections


def test_a_silent_server_has_timeouts_and_no_latencies(oha: Oha) -> None:
    told = recorded("oha_silent")
    found = oha.measurement(told.job, told.output)
    assert set(found.errors) == {"timeout"} and found.requests.completed == 0
    assert found.service_time_us is not None and found.service_time_us.mean is None


def test_an_absent_server_is_an_error(oha: Oha) -> None:
    told = recorded("oha_absent")
    with pytest.raises(LoadError, match="nothing listens at") as caught:
        oha.measurement(told.job, told.output)
    assert "Connection refused" in (caught.value.log_tail or "")


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Connection refused (os error 111)", "connect_refused"),
        ("Cannot assign requested address (os error 99)", "connect_other"),
        ("timeout", "timeout"),
        ("connection error", "reset"),
        ("http2 error", "reset"),
        ("connection closed before message completed", "closed_early"),
        ("error reading a body from connection", "closed_early"),
        ("invalid HTTP status-code parsed", "invalid_response"),
        ("invalid peer certificate: UnknownIssuer", "tls"),
        ("something new", "other"),
    ],
)
def test_error_messages_are_classified(oha: Oha, words: str, kind: str) -> None:
    found = oha.measurement(job(Load()), said(errorDistribution={words: 2, "aborted due to deadline": 64}))
    assert found.errors == {kind: 2}
    assert kind == "other" or kind in {name for _, name in ERROR_KINDS}


@pytest.mark.parametrize(
    "output",
    [
        Output("", "", 0),
        Output("{}", "", 0),
        Output("", "Error: relative URL without a base", 1),
        said(statusCodeDistribution={}, errorDistribution={}),
    ],
)
def test_unreadable_or_empty_output_is_an_error(oha: Oha, output: Output) -> None:
    with pytest.raises(LoadError, match=r"^oha"):
        oha.measurement(job(Load()), output)


@pytest.mark.parametrize(
    ("asked", "headers", "sentence"),
    [
        (Load(pipeline=2), {}, "cannot pipeline HTTP/1.1"),
        (Load(requests_per_connection=5), {}, "number of requests"),
        (Load(http2=True, keepalive=False), {}, "HTTP/2 connections"),
        (Load(http2=True), {"host": "example.org"}, "in addition"),
        (Load(tls=True, keepalive=False), {}, "full handshake"),
        (Load(rate_rps=2, rate_from_rps=1, rate_step_rps=1, step_s=1), {}, "rising"),
        (Load(rate_rps=1, arrivals=Arrivals.POISSON), {}, "evenly"),
    ],
)
def test_unsupported_loads_are_refused(oha: Oha, asked: Load, headers: dict[str, str], sentence: str) -> None:
    assert sentence in (oha.refuses(job(asked, request=Request(headers=headers))) or "")


@pytest.mark.parametrize("asked", [Load(http2=True, pipeline=8), Load(tls=True, tls_resumption=True, keepalive=False), Load(rate_rps=1)])
def test_supported_loads_are_accepted(oha: Oha, asked: Load) -> None:
    assert oha.refuses(job(asked)) is None


def test_the_command_line(oha: Oha, tmp_path: Path) -> None:
    request = Request(method="POST", headers={"Host": "example.org"}, body="a b")
    load = Load(connections=100, duration_s=2.5, warmup_s=0.5, timeout_s=1, rate_rps=1e5, keepalive=False, threads=2)
    argv = oha.argv(job(load, request=request, scratch=tmp_path), warmup=False)
    options = {"-c": "100", "-z": "2500ms", "-t": "1000ms", "-q": "100000", "--worker-threads": "2", "-H": "Host: example.org"}
    for option, value in options.items():
        assert argv[argv.index(option) + 1] == value
    assert argv[argv.index("-m") + 1] == "POST"
    assert {"--latency-correction", "--disable-keepalive", "--disable-compression", "--no-tui"} <= set(argv)
    assert (tmp_path / "body").read_bytes() == b"a b" and argv[argv.index("-D") + 1] == str(tmp_path / "body")
    assert "500ms" in oha.argv(job(load), warmup=True)


def test_options_of_tls_and_http2(oha: Oha, tmp_path: Path) -> None:
    roots = tmp_path / "roots.pem"
    roots.write_text("PEM")
    asked = job(Load(tls=True, http2=True, pipeline=8), scratch=tmp_path)
    trusting = oha.argv(replace(asked, trust=Trust(ca_file=str(roots))), warmup=False)
    assert "--http2" in trusting and trusting[trusting.index("-p") + 1] == "8"
    assert Path(trusting[trusting.index("--cacert") + 1]).read_text() == "PEM"
    assert "--insecure" in oha.argv(replace(asked, trust=Trust(any_certificate=True)), warmup=False)


def test_it_is_built_into_the_users_cache_at_a_fixed_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", os.devnull)
    assert Oha().locate() is None
    argv = Oha().installation().argv
    assert argv[:3] == ("cargo", "install", "oha@1.16.0") and "--locked" in argv
    program = Path(argv[argv.index("--root") + 1]) / "bin" / "oha"
    program.parent.mkdir(parents=True)
    program.touch()
    assert Oha().locate() == str(program)
