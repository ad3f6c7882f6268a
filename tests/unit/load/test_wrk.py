from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench import load
from httpbench.errors import LoadError
from httpbench.load import Output
from httpbench.load.wrk import Wrk, _without_back_fill
from httpbench.model import Load, Request
from tests.unit.load.recorded import job, recorded


@pytest.fixture
def wrk(monkeypatch: pytest.MonkeyPatch) -> Wrk:
    monkeypatch.setattr(Wrk, "program", lambda self: "/usr/bin/wrk")
    monkeypatch.setattr(Wrk, "version", lambda self: "4.1.0")
    return Wrk()


def back_filled(counts: list[int], expected: int) -> list[int]:
    """Return the counts after wrk's back-fill, which adds samples for the requests that a slow response kept wrk from sending.

    In ascending order, the count of each latency is added to the counts of the latencies that are lower by a multiple of ``expected``.
    """
    table = list(counts)
    for latency in range(2 * expected, len(table)):
        step = latency - expected
        while table[latency] and step > expected:
            table[step] += table[latency]
            step -= expected
    return table


@given(st.lists(st.integers(min_value=0, max_value=9), min_size=1, max_size=120), st.integers(min_value=1, max_value=50))
def test_back_filled_samples_are_removed(counts: list[int], expected: int) -> None:
    filled = np.array(back_filled(counts, expected))
    assert _without_back_fill(filled, expected).tolist() == counts


def test_a_run_without_errors(wrk: Wrk) -> None:
    told = recorded("wrk_ok")
    found = wrk.measurement(told.job, told.output)
    assert not found.means_every_request
    assert told.server_requests is not None
    assert 0 <= told.server_requests - found.requests.completed <= 1 + told.job.load.connections
    assert found.requests.ok == found.requests.completed
    assert found.errors_total == 0
    assert found.throughput_rps == pytest.approx(found.requests.ok / found.duration_s)
    assert found.bytes_received is not None and found.bytes_received == 52 * found.requests.completed
    assert found.service_time_us is not None and found.service_time_us.count == found.requests.completed
    assert any("bodies" in note for note in found.notes)


def test_statuses_above_399_are_not_ok(wrk: Wrk) -> None:
    told = recorded("wrk_non_2xx")
    found = wrk.measurement(told.job, told.output)
    assert found.requests.ok == 0 and found.throughput_rps == 0
    assert found.errors["unexpected_status"] == found.requests.completed > 1000


def test_resets_are_read_errors(wrk: Wrk) -> None:
    told = recorded("wrk_reset")
    found = wrk.measurement(told.job, told.output)
    assert told.server_requests is not None
    assert found.errors["read"] == pytest.approx(told.server_requests / 10, abs=2)
    assert found.requests.ok == found.requests.completed


def test_late_responses_are_timeouts_and_not_ok(wrk: Wrk) -> None:
    told = recorded("wrk_late")
    found = wrk.measurement(told.job, told.output)
    assert found.errors["timeout"] > 0
    assert found.requests.ok == found.requests.completed - found.errors["timeout"]
    assert found.service_time_us is not None and found.service_time_us.count == found.requests.ok


def test_a_stall_counts_once_despite_the_back_fill(wrk: Wrk) -> None:
    told = recorded("wrk_stalls")
    found = wrk.measurement(told.job, told.output)
    assert found.service_time_us is not None and found.service_time_us.count == found.requests.completed
    assert found.service_time_us.max is not None and found.service_time_us.max > 300_000
    assert found.service_time_us.p50 is not None and found.service_time_us.p50 < 1000


def test_a_pipelined_batch_has_one_latency(wrk: Wrk) -> None:
    told = recorded("wrk_pipelined")
    found = wrk.measurement(told.job, told.output)
    assert found.service_time_us is not None and found.service_time_us.count == found.requests.completed // 16
    in_flight = found.throughput_rps * (found.service_time_us.mean or 0) / 1e6
    assert in_flight == pytest.approx(16 * 4, rel=0.1)
    assert any("batch of 16" in note for note in found.notes)


def test_a_silent_server_gives_no_percentiles(wrk: Wrk) -> None:
    found = wrk.measurement(recorded("wrk_silent").job, recorded("wrk_silent").output)
    assert found.requests.completed == 0 and found.throughput_rps == 0
    assert found.service_time_us is not None and found.service_time_us.p50 is None


def test_an_absent_server_is_an_error_with_wrks_own_message(wrk: Wrk) -> None:
    told = recorded("wrk_absent")
    with pytest.raises(LoadError, match="exit code 1") as caught:
        wrk.measurement(told.job, told.output)
    assert "Connection refused" in (caught.value.log_tail or "")


def test_latencies_that_do_not_add_up_are_dropped(wrk: Wrk) -> None:
    told = recorded("wrk_ok")
    more = told.output.stdout.replace('"latencies_us":[', '"latencies_us":[[7,99999999],')
    found = wrk.measurement(told.job, Output(more, "", 0))
    assert found.service_time_us is None
    assert any("none are shown" in note for note in found.notes)
    assert found.requests.completed > 0


@pytest.mark.parametrize(("stdout", "sentence"), [("", "without a result"), ("httpbench-wrk/1 {\n", "cannot be read")])
def test_unreadable_output_gives_one_sentence(wrk: Wrk, stdout: str, sentence: str) -> None:
    with pytest.raises(LoadError, match=sentence):
        wrk.measurement(job(Load()), Output(stdout, "", 0))


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (Load(rate_rps=100), "has no open loop"),
        (Load(duration_s=1.5), "whole seconds"),
        (Load(timeout_s=0.5), "whole seconds"),
        (Load(connections=2, threads=3), "too few"),
        (Load(pipeline=2, keepalive=False), "pipelined"),
    ],
)
def test_unsupported_loads_are_refused(wrk: Wrk, asked: Load, sentence: str) -> None:
    assert sentence in (wrk.refuses(job(asked)) or "")


def test_head_requests_and_expected_error_statuses_are_refused(wrk: Wrk) -> None:
    assert "HEAD" in (wrk.refuses(job(Load(), request=Request(method="HEAD"))) or "")
    assert "404" in (wrk.refuses(job(Load(), status=404)) or "")
    assert wrk.refuses(job(Load(pipeline=16))) is None


def test_threads_share_the_connections_evenly_or_a_note_says_so(wrk: Wrk, tmp_path: Path) -> None:
    uneven = job(Load(connections=64, threads=3), scratch=tmp_path)
    argv = wrk.argv(uneven, warmup=False)
    assert argv[argv.index("--threads") + 1] == "2"
    assert any("2 of 3 threads" in note for note in wrk.measurement(uneven, recorded("wrk_silent").output).notes)


def test_the_command_line(wrk: Wrk, tmp_path: Path) -> None:
    request = Request(method="POST", headers={"host": "example.org"}, body="a b")
    argv = wrk.argv(job(Load(keepalive=False, warmup_s=1.2), request=request, scratch=tmp_path), warmup=True)
    assert argv[argv.index("--duration") + 1] == "2s"
    assert "Host: example.org" in argv and "Connection: close" in argv
    assert argv[-4:] == ("http://127.0.0.1:8080/", "1", "POST", str(tmp_path / "body"))
    assert (tmp_path / "body").read_bytes() == b"a b"
    assert Path(argv[argv.index("--script") + 1]).is_file()


def test_it_is_found_by_name() -> None:
    assert load.get("wrk") is load.GENERATORS["wrk"]
