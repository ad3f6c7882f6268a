"""Tests that notes below tables state each fact once."""

from __future__ import annotations

import pytest

from httpbench.analysis.groups import groups
from httpbench.model import Cores, Learned, LearnedRequests, Load, Scaling, TlsHandshakes, Verdict, VerdictKind
from httpbench.report.words.loads import scaling_words, title
from httpbench.report.words.notes import legend, row_notes
from tests.factories import make_host_share, make_load_host, make_measurement, make_plan, make_rounds, make_run, make_trial


def test_notes_of_trials_are_merged_with_ranges_and_a_count() -> None:
    noted = [("1,032 requests timed out.", "wrk does not check bodies."), ("9 requests timed out.", "wrk does not check bodies.")]
    trials = [make_trial(make_plan(round_=index), measurement=make_measurement(notes=notes)) for index, notes in enumerate(noted)]
    run = make_run(trials)
    lines = legend(groups(run, trials), run.table)
    assert "9 to 1,032 requests timed out (in 2 trials)." in lines
    assert lines.count("wrk does not check bodies.") == 1


def test_a_reason_shared_by_ten_rounds_appears_once_with_a_count() -> None:
    verdicts = [
        Verdict(kind=VerdictKind.INVALID, reasons=(f"0.{number}% of requests failed (timeout {number})",)) for number in range(17, 27)
    ]
    trials = [make_trial(make_plan(round_=index), verdict) for index, verdict in enumerate(verdicts)]
    (note,) = row_notes(groups(make_run(trials), trials)[0])
    assert note.reasons == ("0.17 to 0.26% of requests failed (timeout 17 to 26), in 10 rounds",)


def test_repeated_log_lines_are_shown_once() -> None:
    invalid = Verdict(kind=VerdictKind.INVALID, reasons=("it died",))
    trials = [make_trial(verdict=invalid, log_tail="GET /\n" * 20 + "panic")]
    (note,) = row_notes(groups(make_run(trials), trials)[0])
    assert note.log == ("GET / (20 times)", "panic")


@pytest.mark.parametrize(
    ("scaling", "cores", "workers", "words"),
    [
        (Scaling.SINGLE, 1, None, "target on one core"),
        (Scaling.MULTI, 1, None, "target on 1 core"),
        (Scaling.MULTI, 2, None, "target on 2 cores"),
        (Scaling.MULTI, 2, 8, "target on 2 cores with 8 workers"),
        (Scaling.PREFORK, 2, None, "one copy of the target on each of 2 cores"),
        (Scaling.PREFORK, 2, 1, "1 copy of the target on 2 cores"),
        (Scaling.PREFORK, 2, 8, "8 copies of the target on 2 cores"),
    ],
)
def test_a_title_states_the_number_of_cores_and_workers(scaling: Scaling, cores: int, workers: int | None, words: str) -> None:
    assert scaling_words(scaling, cores, workers) == words


def test_a_title_counts_physical_cores_of_the_target() -> None:
    smt = Cores(target=(0, 1, 2, 3), generator=(4,), harness=(4,), shared=False, siblings=((0, 2), (1, 3)))
    trials = [make_trial(make_plan(scaling=Scaling.MULTI, cores=smt, workers=8))]
    (group,) = groups(make_run(trials), trials)
    assert title(group).startswith("plaintext · target on 2 cores with 8 workers · 64 connections")


def test_tables_of_several_load_generators_have_different_titles() -> None:
    trials = [make_trial(make_plan(load_generator=name)) for name in ("native", "autocannon")]
    run = make_run(trials)
    assert [title(group).rpartition(" · ")[2] for group in groups(run, trials)] == ["by autocannon", "by native"]
    assert " by " not in title(groups(run, trials[:1])[0])


def test_a_table_names_the_host_that_sent_the_load() -> None:
    trials = [make_trial()]
    run = make_run(trials, load_host=make_load_host("user@load1", cores=1))
    (group,) = groups(run, trials)
    assert "load from user@load1 with 1 core" in title(group)
    assert "Load from another host: latencies include the network between the hosts." in legend([group], run.table)


def test_a_table_states_the_number_of_load_hosts_and_the_slowest() -> None:
    shares = (make_host_share(), make_host_share("load2", lag_us_p99=3140.0))
    trials = [make_trial(measurement=make_measurement(load_hosts=shares)), make_trial(measurement=make_measurement(load_hosts=shares[:1]))]
    (group,) = groups(make_run(trials), trials)
    assert "load from 2 load hosts (slowest: load2, lag p99 3.14 ms)" in title(group)
    closed = [make_trial(measurement=make_measurement(load_hosts=(make_host_share(lag_us_p99=None),)))]
    (group,) = groups(make_run(closed), closed)
    assert title(group).endswith("load from 1 load host")


@pytest.mark.parametrize(("full", "is_named"), [(64, False), (700, True)])
def test_targets_that_do_not_resume_sessions_are_named(full: int, is_named: bool) -> None:
    load = Load(tls=True, tls_resumption=True, keepalive=False)
    trials = make_rounds("c/nginx", (9000, 9100, 9200), plan={"load": load})
    counted = make_measurement(tls_handshakes=TlsHandshakes(full=full, resumed=10_000 - full))
    trials = [trial.model_copy(update={"measurement": counted}) for trial in trials]
    run = make_run(trials)
    named = [line for line in legend(groups(run, trials), run.table) if line.startswith("Full handshakes")]
    assert named == (["Full handshakes instead of resumed sessions: c/nginx (7.0%)."] if is_named else [])


@pytest.mark.parametrize(
    ("learned", "note"),
    [
        (
            LearnedRequests(count=3, learned=3, bodies=2),
            "for each of 3 requests: status, media type and the bodies of 2 of them, which do not change.",
        ),
        (LearnedRequests(count=3, learned=2, bodies=2), "for 2 of 3 requests: status, media type and body."),
        (
            LearnedRequests(count=3, learned=3, bodies=0),
            "for each of 3 requests: status and media type. Their bodies change, so bodies were not checked.",
        ),
        (
            LearnedRequests(count=1000, learned=100, bodies=100, common=Learned(status=200, content_type="text/html")),
            "from 100 of 1,000 requests: status 200, text/html. Their bodies differ, so bodies were not checked.",
        ),
        (
            LearnedRequests(count=1000, learned=99, bodies=99, common=Learned(status=201, body_bytes=13, body_sha256="0" * 64)),
            "from 99 of 1,000 requests: status 201, and one body of 13 bytes.",
        ),
    ],
)
def test_the_correct_responses_to_several_requests_are_described(learned: LearnedRequests, note: str) -> None:
    trials = [make_trial(learned_requests=learned)]
    run = make_run(trials)
    assert f"Correct responses of epoll, learned {note}" in legend(groups(run, trials), run.table)
