from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from httpbench.errors import LoadError
from httpbench.load import Output
from httpbench.load.h2load import H2load
from httpbench.model import Arrivals, Load, Request
from tests.unit.load.recorded import job, recorded

OF_170 = """Application protocol: h2c

finished in 10.00s, 120000.00 req/s, 5.15MB/s
requests: 1200000 total, 1200064 started, 1200000 done, 1200000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 1200000 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 51.50MB (54000000) total, 13.73MB (14400000) headers (space savings 92.06%), 14.88MB (15600000) data
                 min         max         median      p95         p99         mean        sd         +/- sd
request     :       41us      9.12ms       502us       901us      1.20ms       532us       102us    71.02%
connect     :      112us      1.90ms       811us      1.40ms      1.52ms       799us       210us    62.50%
TTFB        :      401us      2.90ms      1.31ms      2.10ms      2.51ms      1.33ms       401us    65.00%
req/s       :    1870.11     1880.42     1875.02     1879.91     1880.30     1875.00        2.10    66.00%
"""
"""A report in the format of version 1.70, written after its source code."""


@pytest.fixture
def h2load(monkeypatch: pytest.MonkeyPatch) -> H2load:
    monkeypatch.setattr(H2load, "program", lambda self: "/usr/bin/h2load")
    monkeypatch.setattr(H2load, "version", lambda self: "1.52.0")
    return H2load()


def changed(name: str, old: str, new: str) -> Output:
    """Return recorded output with another text in one place."""
    output = recorded(name).output
    assert old in output.stdout
    return replace(output, stdout=output.stdout.replace(old, new))


def test_a_run_without_errors(h2load: H2load) -> None:
    told = recorded("h2load_ok")
    found = h2load.measurement(told.job, told.output)
    assert found.requests.completed == found.requests.ok > 100
    assert told.server_requests == found.requests.sent == found.requests.completed + told.job.load.connections
    assert found.errors == {}
    assert f" {found.throughput_rps:.2f} req/s" in told.output.stdout
    assert f"({found.bytes_received}) total" in told.output.stdout
    times = found.service_time_us
    assert times is not None and times.count == found.requests.ok
    assert (times.min, times.max, times.mean, times.stddev) == (22, 10_030, 192, 642)
    assert (times.p50, times.p99, times.histogram) == (None, None, None), "h2load 1.52 doesn't report percentiles"
    assert found.means_every_request


def test_each_pipelined_request_is_counted(h2load: H2load) -> None:
    told = recorded("h2load_pipelined")
    found = h2load.measurement(told.job, told.output)
    assert found.requests.sent == told.server_requests
    assert found.requests.sent == found.requests.completed + told.job.load.connections * told.job.load.pipeline


def test_other_statuses_are_not_ok(h2load: H2load) -> None:
    told = recorded("h2load_non_2xx")
    found = h2load.measurement(told.job, told.output)
    assert found.requests.ok == 0 and found.throughput_rps == 0
    assert found.errors == {"unexpected_status": found.requests.completed}


def test_a_response_whose_body_is_still_missing_at_the_end_is_not_ok(h2load: H2load) -> None:
    output = changed("h2load_ok", "status codes: 20705 2xx", "status codes: 20707 2xx")
    found = h2load.measurement(recorded("h2load_ok").job, output)
    assert found.requests.ok == found.requests.completed == 20_705 and found.errors == {}


def test_lost_connections_are_an_error(h2load: H2load) -> None:
    told = recorded("h2load_reset")
    assert "0 failed, 0 errored" in told.output.stdout, "h2load reports lost connections, so the adapter needn't detect them"
    with pytest.raises(LoadError, match="connections to the server were lost") as caught:
        h2load.measurement(told.job, told.output)
    assert caught.value.log_tail


@pytest.mark.parametrize(("done", "is_lost"), [(20_600, False), (20_400, True)])
def test_a_connection_may_be_lost_near_the_end(h2load: H2load, done: int, *, is_lost: bool) -> None:
    output = changed("h2load_ok", "20705 done", f"{done} done")
    if is_lost:
        with pytest.raises(LoadError, match="lost"):
            h2load.measurement(recorded("h2load_ok").job, output)
    else:
        assert h2load.measurement(recorded("h2load_ok").job, output).requests.completed == done


def test_streams_that_the_server_resets_are_errors(h2load: H2load) -> None:
    output = changed("h2load_ok", "20705 succeeded, 0 failed, 0 errored", "20700 succeeded, 5 failed, 5 errored")
    found = h2load.measurement(recorded("h2load_ok").job, output)
    assert (found.requests.completed, found.requests.ok, found.errors) == (20_700, 20_700, {"reset": 5})


def test_an_absent_server_is_an_error(h2load: H2load) -> None:
    told = recorded("h2load_absent")
    with pytest.raises(LoadError, match="could not open a connection to http://") as caught:
        h2load.measurement(told.job, told.output)
    assert caught.value.log_tail


def test_a_silent_server_has_no_response(h2load: H2load) -> None:
    told = recorded("h2load_silent")
    found = h2load.measurement(told.job, told.output)
    assert (found.requests.sent, found.requests.completed) == (4, 0)
    assert found.service_time_us is not None and found.service_time_us.mean is None


def test_a_note_reports_responses_after_the_timeout(h2load: H2load) -> None:
    told, prompt = recorded("h2load_late"), recorded("h2load_ok")
    sentence = "At least one response took longer than the request timeout of 1 s, and counts as correct."
    assert sentence in h2load.measurement(told.job, told.output).notes
    assert sentence not in h2load.measurement(prompt.job, prompt.output).notes


def test_a_rate_has_service_times_only(h2load: H2load) -> None:
    told = recorded("h2load_rate")
    found = h2load.measurement(told.job, told.output)
    assert found.throughput_rps == pytest.approx(200, rel=0.02)
    assert found.response_time_us is None and found.service_time_us is not None
    assert any("earlier wait" in note for note in found.notes)


def test_percentiles_of_later_versions_are_read(h2load: H2load) -> None:
    found = h2load.measurement(job(Load(http2=True, duration_s=10), cpus=(1, 2)), Output(OF_170, "", 0))
    times = found.service_time_us
    assert found.requests.ok == 1_200_000 and times is not None
    assert (times.p50, times.p95, times.p99, times.mean, times.stddev) == (502, 901, 1200, 532, 102)


def test_the_extremes_of_a_sample_are_left_out(h2load: H2load) -> None:
    found = h2load.measurement(job(Load(http2=True, duration_s=10), cpus=(1, 2)), Output(OF_170, "", 0))
    times = found.service_time_us
    assert times is not None and (times.count, times.min, times.max) == (1_000_000, None, None)
    assert not found.means_every_request


@pytest.mark.parametrize(("mean", "is_precise"), [("99us", False), ("100us", True)])
def test_littles_law_is_checked_only_with_a_precise_mean(h2load: H2load, mean: str, *, is_precise: bool) -> None:
    output = changed("h2load_ok", "     192us", f"     {mean}")
    assert h2load.measurement(recorded("h2load_ok").job, output).means_every_request is is_precise


def test_another_protocol_than_requested_is_an_error(h2load: H2load) -> None:
    asked = replace(recorded("h2load_ok").job, load=Load(connections=4, duration_s=1, tls=True, http2=True))
    with pytest.raises(LoadError, match=r"selected http/1\.1 instead of HTTP/2"):
        h2load.measurement(asked, recorded("h2load_ok").output)


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("requests: ", "queries: ", "requests"),
        ("time for request: ", "time for query: ", "row of times"),
        ("      192us", "  192 weeks", "'192'"),
        ("req/s  ", "req/h  ", "row of rates"),
    ],
)
def test_an_unreadable_report_is_an_error(h2load: H2load, old: str, new: str, name: str) -> None:
    with pytest.raises(LoadError, match="h2load's report cannot be read") as caught:
        h2load.measurement(recorded("h2load_ok").job, changed("h2load_ok", old, new))
    assert name in str(caught.value)


def test_a_crash_is_an_error(h2load: H2load) -> None:
    with pytest.raises(LoadError, match="h2load was killed by signal 6"):
        h2load.measurement(job(Load()), Output("starting benchmark...", "Assertion failed", -6))


@pytest.mark.parametrize(
    ("asked", "request_", "sentence"),
    [
        (Load(requests_per_connection=5), Request(), "number of requests"),
        (Load(keepalive=False), Request(), "may never end"),
        (Load(tls=True, tls_resumption=True), Request(), "resume"),
        (Load(rate_rps=2, rate_from_rps=1, rate_step_rps=1, step_s=1), Request(), "rising"),
        (Load(rate_rps=1, arrivals=Arrivals.POISSON), Request(), "evenly"),
        (Load(), Request(method="HEAD"), "HEAD"),
        (Load(pipeline=2), Request(method="POST", body="x"), "body"),
        (Load(), Request(headers={"X-Empty": ""}), "X-Empty"),
    ],
)
def test_unsupported_loads_are_refused(h2load: H2load, asked: Load, request_: Request, sentence: str) -> None:
    assert sentence in (h2load.refuses(job(asked, request=request_)) or "")


def test_http2_allows_more(h2load: H2load) -> None:
    assert h2load.refuses(job(Load(http2=True, tls=True, pipeline=8), request=Request(method="HEAD"))) is None


def test_the_command_line(h2load: H2load, tmp_path: Path) -> None:
    request = Request(method="PUT", headers={"Host": "example.org", "X-A": "1"}, body="a b")
    load = Load(connections=8, duration_s=1.5, warmup_s=0.5, rate_rps=1000)
    argv = h2load.argv(job(load, request=request, scratch=tmp_path, cpus=(1, 2)), warmup=False)
    for option, value in {"-c": "8", "-t": "2", "-m": "1", "-D": "1500ms", "--rps": "125", "-d": str(tmp_path / "body")}.items():
        assert argv[argv.index(option) + 1] == value
    assert {"--h1", ":method: PUT", ":authority: example.org", "X-A: 1"} <= set(argv)
    assert (tmp_path / "body").read_bytes() == b"a b"
    assert "500ms" in h2load.argv(job(load), warmup=True)
    assert "--h1" not in h2load.argv(job(Load(http2=True)), warmup=False)
