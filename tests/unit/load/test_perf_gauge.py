from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.errors import LoadError
from httpbench.load import Output
from httpbench.load.perf_gauge import PerfGauge
from httpbench.model import Load, Request
from tests.unit.load.recorded import job

SAID = """Cannot find logger configuration at ./config/log4rs.yaml. Logging to console.
Test: perf-gauge
Duration 2.008813172s{space}
Requests: {requests}{space}
Request rate: 374.350 per second
Success rate: 100.000%
Total bytes: 7.5 MB{space}
Bitrate: 29.948 Mbps

Summary:
{summary}

Latency:
Min    :   72µs
p50    :  411µs
p90    :  781µs
p95    : 1253µs
p99    : 2923µs
p99.9  : 2972µs
p99.99 : 2972µs
Max    : 2972µs
Mean   :  501µs
StdDev :  431µs
tm95   :  431µs
tm99   :  484µs
tm99.9 :  500µs


==================================================
Done gauging performance. Exiting.
"""
"""Output of perf-gauge 0.1.20."""


@pytest.fixture
def gauge(monkeypatch: pytest.MonkeyPatch) -> PerfGauge:
    monkeypatch.setattr(PerfGauge, "program", lambda self: "/usr/bin/perf-gauge")
    monkeypatch.setattr(PerfGauge, "version", lambda self: "0.1.20")
    return PerfGauge()


def said(summary: str = "200 OK: 1752", requests: int = 1752) -> Output:
    return Output(SAID.format(summary=summary, requests=requests, space=" "), "", 0)


def test_a_report_is_read(gauge: PerfGauge) -> None:
    found = gauge.measurement(job(Load(duration_s=2)), said())
    assert found.requests.completed == found.requests.ok == 1752 and found.errors == {}
    assert found.throughput_rps == pytest.approx(1752 / 2.008813172)
    times = found.service_time_us
    assert times is not None and found.response_time_us is None
    assert (times.min, times.p50, times.p90, times.p95, times.p99, times.max) == (72, 411, 781, 1253, 2923, 2972)
    assert (times.mean, times.stddev, times.tm99_9) == (501, 431, 500)
    assert any("is missing" in note for note in found.notes)


def test_times_are_in_milliseconds_if_none_is_shorter_than_one(gauge: PerfGauge) -> None:
    told = said().stdout.replace("Min    :   72µs", "Min    :   1.20ms").replace("p99    : 2923µs", "p99    :  29.23ms")
    times = gauge.measurement(job(Load(duration_s=2)), Output(told, "", 0)).service_time_us
    assert times is not None and times.min == pytest.approx(1200) and times.p99 == pytest.approx(29_230)


def test_unreadable_times_are_an_error(gauge: PerfGauge) -> None:
    with pytest.raises(LoadError, match="Latency"):
        gauge.measurement(job(Load(duration_s=2)), Output(said().stdout.replace("µs", "furlongs"), "", 0))


def test_percentiles_of_few_samples_are_left_out(gauge: PerfGauge) -> None:
    times = gauge.measurement(job(Load(duration_s=2)), said()).service_time_us
    assert times is not None and times.p99_9 is None and times.p99_99 is None
    few = gauge.measurement(job(Load(duration_s=2)), said("200 OK: 100", 100)).service_time_us
    assert few is not None and few.p90 == 781 and few.p95 is None


def test_other_statuses_and_errors_are_not_ok(gauge: PerfGauge) -> None:
    summary = "200 OK: 10\n503 Service Unavailable: 5\nerror trying to connect: tcp connect error: Connection refused (os error 111): 3"
    found = gauge.measurement(job(Load(duration_s=2)), said(summary, 18))
    assert (found.requests.completed, found.requests.ok) == (15, 10)
    assert found.errors == {"unexpected_status": 5, "connect_refused": 3}


def test_a_missing_server_gives_one_sentence(gauge: PerfGauge) -> None:
    summary = "error trying to connect: tcp connect error: Connection refused (os error 111): 18"
    with pytest.raises(LoadError, match="nothing listens at http://"):
        gauge.measurement(job(Load(duration_s=2)), said(summary, 18))


def test_a_measurement_ended_by_a_timeout_has_an_error(gauge: PerfGauge) -> None:
    assert gauge.measurement(job(Load(duration_s=10)), said()).errors == {"timeout": 1}


@pytest.mark.parametrize("output", [Output("", "", 0), Output("Requests: 3 ", "", 0), Output("", "panicked", 101)])
def test_unreadable_output_gives_one_sentence(gauge: PerfGauge, output: Output) -> None:
    with pytest.raises(LoadError, match="perf-gauge"):
        gauge.measurement(job(Load()), output)


def test_the_command_line(gauge: PerfGauge) -> None:
    asked = job(Load(connections=8, duration_s=1.5, warmup_s=0.5, rate_rps=500, timeout_s=2), request=Request(headers={"X-A": "1"}))
    words = " ".join(gauge.argv(asked, warmup=False))
    assert words.startswith("/usr/bin/perf-gauge --concurrency 8 --duration 1500ms --rate 500 --request_timeout 2000ms http --conn_reuse")
    assert words.endswith("--method GET --header X-A:1 http://127.0.0.1:8080/")
    assert "--duration 500ms" in " ".join(gauge.argv(asked, warmup=True))
    assert "--conn_reuse" not in gauge.argv(job(Load(keepalive=False)), warmup=False)


@pytest.mark.parametrize(
    ("load", "request_", "sentence"),
    [
        (Load(pipeline=2), Request(), "pipeline"),
        (Load(requests_per_connection=50), Request(), "close a connection"),
        (Load(rate_rps=2, rate_from_rps=1, rate_step_rps=1, step_s=1), Request(), "rising"),
        (Load(threads=2), Request(), "threads"),
        (Load(), Request(method="POST", body="x"), "bodies"),
        (Load(), Request(headers={"Referer": "http://x"}), "colons"),
    ],
)
def test_unsupported_loads_are_refused(gauge: PerfGauge, load: Load, request_: Request, sentence: str) -> None:
    assert sentence in (gauge.refuses(job(load, request=request_)) or "")


def test_it_is_found_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert PerfGauge().locate() is None
    argv = PerfGauge().installation().argv
    program = Path(argv[argv.index("--root") + 1]) / "bin" / "perf-gauge"
    program.parent.mkdir(parents=True)
    program.touch()
    assert PerfGauge().locate() == str(program)
