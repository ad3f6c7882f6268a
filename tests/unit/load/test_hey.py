from __future__ import annotations

import json
from pathlib import Path

import pytest

from httpbench.errors import LoadError
from httpbench.load import Output
from httpbench.load.hey import ERROR_KINDS, Hey
from httpbench.model import Load, Request
from tests.unit.load.recorded import job, recorded


@pytest.fixture
def hey(monkeypatch: pytest.MonkeyPatch) -> Hey:
    monkeypatch.setattr(Hey, "program", lambda self: "/usr/bin/hey")
    monkeypatch.setattr(Hey, "version", lambda self: "0.1.4")
    return Hey()


def said(**changes: object) -> Output:
    document: dict[str, object] = {"total_ns": 10**9, "results": 0, "statuses": None, "errors": {}, "latencies_s": [], "connects_s": []}
    return Output(json.dumps(document | changes), "", 0)


def test_a_run_without_errors(hey: Hey) -> None:
    told = recorded("hey_ok")
    found = hey.measurement(told.job, told.output)
    assert found.requests.completed == found.requests.ok == told.server_requests
    assert found.errors == {}
    assert found.throughput_rps == pytest.approx(found.requests.ok / found.duration_s)
    assert found.service_time_us is not None and found.service_time_us.count == found.requests.ok
    assert found.connect_time_us is not None and found.connect_time_us.count == 4
    assert any("bodies" in note for note in found.notes)


def test_other_statuses_are_not_ok(hey: Hey) -> None:
    told = recorded("hey_non_2xx")
    found = hey.measurement(told.job, told.output)
    assert found.requests.ok == 0 and found.throughput_rps == 0
    assert found.errors == {"unexpected_status": found.requests.completed}


def test_resets_are_errors_and_not_throughput(hey: Hey) -> None:
    told = recorded("hey_reset")
    found = hey.measurement(told.job, told.output)
    assert set(found.errors) == {"reset"} and found.errors["reset"] > 0
    assert found.throughput_rps == pytest.approx(found.requests.completed / found.duration_s)


@pytest.mark.parametrize("name", ["hey_late", "hey_silent"])
def test_late_and_missing_responses_are_timeouts(hey: Hey, name: str) -> None:
    told = recorded(name)
    found = hey.measurement(told.job, told.output)
    assert set(found.errors) == {"timeout"}
    assert found.requests.completed + found.errors["timeout"] == told.server_requests


def test_an_absent_server_is_an_error(hey: Hey) -> None:
    told = recorded("hey_absent")
    with pytest.raises(LoadError, match="nothing listens at") as caught:
        hey.measurement(told.job, told.output)
    assert "connection refused" in (caught.value.log_tail or "")


def test_responses_after_a_correct_first_million_count_as_correct(hey: Hey) -> None:
    found = hey.measurement(job(Load()), said(results=1_200_000, statuses={"200": 1_000_000}))
    assert found.requests.ok == 1_200_000
    assert "other 200,000. Their statuses count as correct" in found.notes[-1]


def test_responses_after_a_first_million_with_errors_are_unknown(hey: Hey) -> None:
    found = hey.measurement(job(Load()), said(results=1_200_000, statuses={"200": 999_999, "503": 1}))
    assert found.requests.ok == 999_999
    assert found.errors == {"unexpected_status": 1, "unknown_status": 200_000}


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ('Get "http://h/": dial tcp 127.0.0.1:1: connect: connection refused', "connect_refused"),
        ('Get "http://h/": dial tcp 10.0.0.1:1: i/o timeout', "connect_timeout"),
        ('Get "http://h/": dial tcp 127.0.0.1:1: connect: cannot assign requested address', "connect_other"),
        ('Get "http://h/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)', "timeout"),
        ('Get "http://h/": read tcp 127.0.0.1:5->127.0.0.1:1: read: connection reset by peer', "reset"),
        ('Get "http://h/": EOF', "closed_early"),
        ('Get "http://h/": net/http: HTTP/1.x transport connection broken: malformed HTTP response "x"', "invalid_response"),
        ('Get "http://h/": something new', "other"),
    ],
)
def test_error_messages_are_classified(hey: Hey, words: str, kind: str) -> None:
    found = hey.measurement(job(Load()), said(results=3, statuses={"200": 1}, errors={words: 2}))
    assert found.errors == {kind: 2}
    assert kind == "other" or kind in {name for _, name in ERROR_KINDS}


@pytest.mark.parametrize("output", [Output("", "", 0), Output("{}", "", 0), Output("", "flag provided but not defined", 2), said()])
def test_unreadable_or_empty_output_is_an_error(hey: Hey, output: Output) -> None:
    with pytest.raises(LoadError, match=r"^hey"):
        hey.measurement(job(Load()), output)


@pytest.mark.parametrize(
    ("asked", "headers", "sentence"),
    [
        (Load(rate_rps=1), {}, "has no open loop"),
        (Load(pipeline=2), {}, "cannot pipeline"),
        (Load(timeout_s=0.5), {}, "whole seconds"),
        (Load(connections=501), {}, "at most 500"),
        (Load(), {"user-agent": "x"}, "User-Agent"),
        (Load(), {"X-Empty": ""}, "X-Empty"),
    ],
)
def test_unsupported_loads_are_refused(hey: Hey, asked: Load, headers: dict[str, str], sentence: str) -> None:
    assert sentence in (hey.refuses(job(asked, request=Request(headers=headers))) or "")


def test_many_connections_are_accepted_without_keepalive(hey: Hey) -> None:
    assert hey.refuses(job(Load(connections=501, keepalive=False))) is None


def test_the_command_line(hey: Hey, tmp_path: Path) -> None:
    request = Request(method="POST", headers={"Host": "example.org", "X-A": "1"}, body="a b")
    argv = hey.argv(job(Load(keepalive=False, duration_s=2.5, threads=2), request=request, scratch=tmp_path), warmup=False)
    for option, value in {"-z": "2.5s", "-c": "64", "-t": "2", "-cpus": "2", "-m": "POST", "-host": "example.org", "-H": "X-A: 1"}.items():
        assert argv[argv.index(option) + 1] == value
    assert "-disable-keepalive" in argv and "-disable-redirects" in argv and "-disable-compression" in argv
    assert (tmp_path / "body").read_bytes() == b"a b"
