from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from httpbench import load
from httpbench.errors import LoadError, SelectionError
from httpbench.load import Job, Output, Phase
from httpbench.load.native import Native
from httpbench.model import EVENT_STREAM, Expectation, ListedRequest, Load, MixPart, Request, RequestList, Rule, Trust, Workload
from tests.unit.load.recorded import REPORT, job


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> Native:
    monkeypatch.setattr(Native, "program", lambda self: "/usr/bin/httpbench-loadgen")
    return Native()


def test_a_report_is_read_and_unknown_keys_are_ignored(native: Native) -> None:
    found = native.measurement(job(Load(duration_s=2)), Output(json.dumps(REPORT), "", 0))
    assert found.means_every_request, "Little's law would not be looked at any more"
    assert (found.requests.sent, found.requests.completed, found.requests.ok) == (104, 100, 99)
    assert found.errors_total == 1 and found.bytes_received == 5200 and found.throughput_rps == 49.5 and found.busy_cores == 0.75
    assert found.service_time_us is not None and found.service_time_us.p50 == 2.0 and found.service_time_us.p99 is None
    assert found.response_time_us is None
    assert found.intervals[0].completed == 100
    assert found.intervals[0].bytes_received == 5200
    assert found.notes == ()


def test_times_to_the_first_byte_are_unknown_with_a_rising_rate(native: Native) -> None:
    told = REPORT | {"response_time_us": REPORT["service_time_us"], "first_byte_us": {"count": 100, "p50": 0.5}, "intervals": []}
    for load_, expected in ((Load(rate_rps=50), 0.5), (Load(rate_rps=100, rate_from_rps=50, rate_step_rps=50, step_s=1.0), None)):
        assert native.measurement(job(load_), Output(json.dumps(told), "", 0)).latency_us("ttfb_p50") == expected
    assert native.measurement(job(Load()), Output(json.dumps(REPORT), "", 0)).first_byte_us is None, "an earlier version has none"


def test_the_throughput_of_event_streams_is_in_events(native: Native) -> None:
    counts = {"count": 80, "per_s": 40.0, "streams": 4, "numbered_streams": 0, "lost": None, "first_censored": 1, "between_censored": 0}
    events = {**counts, "first_us": {"count": 4, "p50": 7.0}, "between_us": {"count": 76, "p99": 9.0}}
    told = REPORT | {"events": events, "intervals": [each | {"events": 80} for each in REPORT["intervals"]]}
    found = native.measurement(job(Load(duration_s=2)), Output(json.dumps(told), "", 0))
    assert (found.throughput_rps, found.intervals[0].completed) == (40.0, 80)
    assert found.events is not None and (found.events.begun, found.events.lost) == (3, None)
    assert (found.latency_us("p50"), found.latency_us("first_event_p50"), found.latency_us("between_p99")) == (7.0, 7.0, 9.0)


def test_event_streams_have_one_request(native: Native) -> None:
    streams = Workload(name="events", description="Events", expect=EVENT_STREAM, sse=True)
    words = native.argv(replace(job(Load()), workload=streams), warmup=False)
    assert "--sse" in words and "--expect-status" not in words
    assert native.refuses(replace(job(Load()), workload=streams)) is None
    assert "remove --pipeline, or add --http2" in str(native.refuses(replace(job(Load(pipeline=2)), workload=streams)))
    assert native.refuses(replace(job(Load(pipeline=2, http2=True)), workload=streams)) is None
    for wrong in ({"expect": {"body": "x"}}, {"backend": "c/nginx"}, {"expect": {"status": 204}}):
        with pytest.raises(ValidationError, match="sse requires"):
            Workload.model_validate({"name": "events", "description": "Events", "sse": True, **wrong})


@pytest.mark.parametrize("exit_code", [130, 143])
def test_a_measurement_stopped_by_a_signal_counts_and_has_a_note(native: Native, exit_code: int) -> None:
    found = native.measurement(job(Load(duration_s=10)), Output(json.dumps(REPORT | {"interrupted": True}), "", exit_code))
    assert found.notes == ("Stopped after 2.00 s of 10 s.",)


def test_lower_bounds_in_the_latencies_have_a_note(native: Native) -> None:
    found = native.measurement(job(Load()), Output(json.dumps(REPORT | {"censored": 3}), "", 0))
    assert found.notes[0].startswith("3 requests timed out or were unfinished")


def test_a_stalled_generator_has_a_note(native: Native) -> None:
    def notes(stalled_us: float) -> tuple[str, ...]:
        generator = REPORT["generator"] | {"stalled_us": stalled_us}
        return native.measurement(job(Load()), Output(json.dumps(REPORT | {"generator": generator}), "", 0)).notes

    assert notes(1_000) == ()
    assert notes(1_500_000) == ("The load generator was stopped for 1.50 s: latencies include that time.",)


def test_a_generator_without_io_uring_gives_the_reason() -> None:
    generator = REPORT["generator"] | {"engine_fallback": "cannot create an io_uring: Operation not permitted (os error 1)"}
    told = Output(json.dumps(REPORT | {"generator": generator}), "", 0)
    assert Native().measurement(job(Load()), told).notes == (
        "The load generator used epoll, which takes more CPU time than io_uring: "
        "cannot create an io_uring: Operation not permitted (os error 1).",
    )


def test_the_mean_is_that_of_finished_requests(native: Native) -> None:
    """When the run ended, 8 of 108 requests had been in flight for a second. The other 100 had finished after 2 µs each."""
    times = REPORT["service_time_us"] | {"count": 108, "mean": (100 * 2.0 + 8 * 1e6) / 108}
    told = REPORT | {"service_time_us": times, "censored": 8, "unfinished_s": 8.0}
    measurement = native.measurement(job(Load()), Output(json.dumps(told), "", 0))
    found = measurement.service_time_us
    assert found is not None and found.mean == pytest.approx(2.0, abs=1e-3)
    assert (measurement.unfinished, measurement.unfinished_s) == (8, 8.0)


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        (Output("", "error: nobody listens at 127.0.0.1:1", 1), "exit code 1"),
        (Output("", "", 0), "without a result"),
        (Output(json.dumps(REPORT | {"failure": "thread 2 of the load generator failed: no"}), "", 1), "after 2.00 s: thread 2 of the"),
        (Output("{", "", 0), "cannot be read"),
        (Output(json.dumps({**REPORT, "schema": "httpbench-loadgen/2"}), "", 0), "prints httpbench-loadgen/2"),
        (Output(json.dumps({**REPORT, "requests": {}}), "", 0), "requests.completed"),
    ],
)
def test_unusable_output_gives_one_sentence(native: Native, output: Output, sentence: str) -> None:
    with pytest.raises(LoadError, match=sentence):
        native.measurement(job(Load()), output)


def test_lines_of_progress_are_parsed(native: Native) -> None:
    line = (
        '{"event":"progress","phase":"measure","elapsed_s":1.25,"completed":12,"errors":0,"throughput_rps":9.5,"p50_us":63.1,"p99_us":null}'
    )
    found = native.progress(line)
    assert found is not None
    assert (found.phase, found.elapsed_s, found.throughput_rps, found.p50_us, found.p99_us) == (Phase.MEASURE, 1.25, 9.5, 63.1, None)
    assert native.progress("warning: few file descriptors") is None
    assert native.progress('{"event":"other"}') is None
    assert native.progress("{broken") is None


def test_the_command_line(native: Native, tmp_path: Path) -> None:
    request = Request(method="POST", headers={"X-A": "1"}, body="@b")
    asked = Load(connections=8, pipeline=2, duration_s=0.25, warmup_s=1.5, rate_rps=10_000)
    argv = native.argv(job(asked, request=request, cpus=(1, 3), scratch=tmp_path), warmup=False)
    expected = {"-c": "8", "-t": "2", "-d": "250ms", "--warmup": "1500ms", "--timeout": "2000ms", "--pipeline": "2", "--rate": "10000"}
    expected |= {"--cpus": "1,3", "-X": "POST", "-H": "X-A: 1", "--expect-status": "200", "--json": "-", "--progress": "json"}
    for option, value in expected.items():
        assert argv[argv.index(option) + 1] == value
    assert (tmp_path / "body").read_text() == "@b"
    assert (tmp_path / "expected-body").read_text() == "Hello, World!"
    assert argv[-1] == "http://127.0.0.1:8080/"
    assert "--no-keepalive" not in argv


def test_a_connection_per_request_excludes_pipelining(native: Native, tmp_path: Path) -> None:
    argv = native.argv(job(Load(keepalive=False), scratch=tmp_path), warmup=False)
    assert "--no-keepalive" in argv and "--pipeline" not in argv  # the two options are mutually exclusive, even with a depth of 1


def test_tls_and_http2_are_options(native: Native, tmp_path: Path) -> None:
    secure = replace(job(Load(tls=True, http2=True, pipeline=8)), scratch=tmp_path)
    words = native.argv(replace(secure, trust=Trust(any_certificate=True)), warmup=False)
    assert "--http2" in words and "--insecure" in words and "--ca-file" not in words
    (tmp_path / "roots.pem").write_text("roots")
    words = native.argv(replace(secure, trust=Trust(ca_file=str(tmp_path / "roots.pem"))), warmup=False)
    assert Path(words[words.index("--ca-file") + 1]).read_text() == "roots", "a copy, which load hosts get, too"
    words = native.argv(replace(job(Load()), scratch=tmp_path), warmup=False)
    assert not {"--http2", "--insecure", "--ca-file"} & set(words)
    assert native.refuses(job(Load(http2=True, keepalive=False))) == "HTTP/2 connections cannot be closed after each request"


def test_it_refuses_to_pipeline_on_closing_connections(native: Native) -> None:
    assert native.refuses(job(Load(pipeline=2, keepalive=False))) is not None
    assert native.refuses(job(Load(rate_rps=10))) is None


def test_a_misspelled_name_gets_a_hint() -> None:
    with pytest.raises(SelectionError) as caught:
        load.get("wkr")
    assert caught.value.hint == "did you mean wrk?"


def test_a_missing_program_has_a_build_command_as_its_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LoadError, match="not installed") as caught:
        load.get("wrk").program()
    assert caught.value.hint == "httpbench setup --load-generator wrk"


def mixed() -> Workload:
    parts = (
        MixPart(name="json", weight=3, expect=Expectation(body="{}")),
        MixPart(name="db", request=Request(path="/db", headers={"Accept": "x"}), expect=Expectation(rule=Rule.WORLD)),
    )
    return Workload(name="json:3,db:1", description="", parts=parts)


def test_a_mix_is_a_file_of_requests_each_with_its_correct_response(native: Native, tmp_path: Path) -> None:
    options = native.argv(Job("http://127.0.0.1:1/", mixed(), Load(), (), tmp_path), warmup=False)
    stated = json.loads(Path(options[options.index("--mix") + 1]).read_text())
    assert stated == [
        {"name": "json", "weight": 3, "method": "GET", "path": "/", "headers": [], "expect_status": 200, "expect_body": "{}"},
        {"name": "db", "weight": 1, "method": "GET", "path": "/db", "headers": ["Accept: x"], "expect_status": 200},
    ]
    assert not {"-X", "--expect-status", "--expect-body"} & set(options)


@pytest.mark.parametrize(("duration_s", "interval"), [(2, "100ms"), (30, "300ms")])
def test_bodies_are_sampled_if_only_the_harness_can_check_them(native: Native, tmp_path: Path, duration_s: float, interval: str) -> None:
    def options(expect: Expectation) -> tuple[str, ...]:
        workload = Workload(name="db", description="", expect=expect)
        return native.argv(Job("http://127.0.0.1:1/", workload, Load(duration_s=duration_s), (), tmp_path), warmup=False)

    found = options(Expectation(rule=Rule.WORLD))
    assert found[found.index("--sample-bodies") + 1] == interval
    assert "--sample-bodies" not in options(Expectation())
    assert "--sample-bodies" not in options(Expectation(rule=Rule.JSON_MESSAGE, body="{}"))


def test_kept_responses_belong_to_the_workload_of_their_request(native: Native, tmp_path: Path) -> None:
    samples = [{"request": 1, "status": 200, "head": "HTTP/1.1 200 OK\r\n\r\n", "body": "{}", "truncated": False}]
    found = native.kept_responses(Job("", mixed(), Load(), (), tmp_path), Output(json.dumps(REPORT | {"samples": samples}), "", 0))
    assert [(one.workload.name, one.body, one.truncated) for one in found] == [("db", "{}", False)]
    assert native.kept_responses(job(Load()), Output(json.dumps(REPORT), "", 0)) == ()


def test_the_parts_of_a_mix_are_read(native: Native) -> None:
    part = {"name": "db", "weight": 1, "sent": 9, "ok": 8, "errors": 1, "throughput_rps": 4.0, "time_us": {"count": 8, "p50": 2.0}}
    (found,) = native.measurement(job(Load()), Output(json.dumps(REPORT | {"parts": [part]}), "", 0)).parts
    assert (found.name, found.sent, found.ok, found.errors, found.time_us.p50) == ("db", 9, 8, 1, 2.0)


# --- the first response ---------------------------------------------------------------------------------------------------------


def test_the_first_response_needs_only_a_request_and_a_connection(native: Native, tmp_path: Path) -> None:
    waiting = native.first_response_argv(replace(job(Load(timeout_s=3, rate_rps=100)), cpus=(2, 3), scratch=tmp_path))
    assert waiting[1] == "--first-response"
    words = " ".join(waiting)
    assert "--expect-status 200 --expect-body @" in words and "--timeout 3000ms --cpus 2,3 http://" in words
    assert not {"--rate", "-d", "-c", "--json"} & set(waiting)


def test_any_success_is_a_first_response_if_the_workload_accepts_it(native: Native) -> None:
    anything = Workload(name="request", description="Any", expect=Expectation(status=None))
    assert "--expect-status" not in native.first_response_argv(replace(job(Load()), workload=anything))


def test_the_times_of_the_first_response_are_read(native: Native) -> None:
    found = native.first_response('{"waiting_ns":1,"sent_ns":20,"received_ns":300,"more":4}')
    assert (found.waiting_ns, found.sent_ns, found.received_ns) == (1, 20, 300)
    with pytest.raises(LoadError, match="httpbench-loadgen's first response cannot be read"):
        native.first_response("")


def test_a_list_states_what_differs_from_its_first_request(native: Native, tmp_path: Path) -> None:
    first = Request(method="POST", path="/1", headers={"A": "b"}, body="x")
    requests = (
        ListedRequest(request=first, expect=Expectation(status=201, body="one")),
        ListedRequest(weight=3, request=first.model_copy(update={"path": "/2"}), expect=Expectation(status=201, body="one")),
        ListedRequest(request=Request(path="/3"), expect=Expectation(status=None, body_sha256="0" * 64)),
        ListedRequest(request=first),
    )
    listed = RequestList(source="d.csv", count=4, sha256="0" * 64, requests=requests)
    workload = Workload(name="d.csv", description="", request=first, expect=Expectation(status=None), listed=listed)
    options = native.argv(Job("http://127.0.0.1:1/", workload, Load(), (), tmp_path), warmup=False)
    stated = {"name": "d.csv", "weight": 1, "method": "POST", "path": "/1", "headers": ["A: b"], "body": "x"}
    other: dict[str, object] = {"method": "GET", "path": "/3", "headers": [], "body": None}
    assert json.loads(Path(options[options.index("--mix") + 1]).read_text()) == [
        {**stated, "expect_status": 201, "expect_body": "one"},
        {"name": "d.csv", "weight": 3, "path": "/2"},
        {"name": "d.csv", **other, "expect_status": None, "expect_body": None, "expect_body_sha256": "0" * 64},
        {"name": "d.csv", "expect_status": None, "expect_body": None},
    ]
