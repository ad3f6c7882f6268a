"""Tests of the sentences that state the reasons for verdicts."""

from __future__ import annotations

import re
from typing import Any

import pytest

from httpbench.model import Reason, ReasonKind, Verdict, VerdictKind
from httpbench.report.words.reasons import SENTENCES, joined, sentence, sentences

GENERATOR = {"name": "generator", "cores": 0.991, "capacity": 1}
TARGET = {"name": "target", "cores": 0.62, "capacity": 2, "fullest_thread_cores": 0.6, "waited_share": 0.25}
EACH = {"programs": [GENERATOR, TARGET]}
TOGETHER = {"programs": [{"name": "generator", "cores": 0.5}, {"name": "target", "cores": 1.4}], "shared_cores": 2}
PLACES = [{"cores": 0.49, "programs": ["target"], "capacity": 1}, {"cores": 0.2, "programs": ["backend", "load generator"], "capacity": 2}]
BY = [{"name": f"spin (pid {pid})", "cores": 0.1} for pid in range(5)]
ROWS = {"rows": 5, "responses": 10, "required_rows": 10}
ERROR = {"message": "no port is free", "hint": "end a program"}
INNER = {"kind": "steal", "data": {"cores": [{"cpu": 0, "share": 0.06}]}}
OTHER = {"kind": "steal", "data": {"cores": [{"cpu": 0, "share": 0.2}]}}
USE = "generator 0.99 of 1 core, target 0.62 of 2 cores, its fullest thread 0.60, waiting for a core 0.25 of the time"
SHARE = "generator 0.50 and target 1.40 of 2 shared cores"

EXAMPLES: dict[ReasonKind, tuple[dict[str, Any], str]] = {
    ReasonKind.TEXT: ({"text": "it {died}"}, "it {died}"),
    ReasonKind.NO_CORRECT_RESPONSE: ({"errors": {"connect_refused": 640}}, "no correct response (connect refused 640)"),
    ReasonKind.NO_EVENT: ({"errors": {"timeout": 8}}, "no event arrived (timeout 8)"),
    ReasonKind.EVENTS_LOST: ({"lost": 3, "events": 900, "streams": 1}, "3 events lost: ids are missing in 1 stream"),
    ReasonKind.WRONG_RESPONSES: ({"wrong": 1, "completed": 1000, "errors": {}}, "1 of 1,000 responses were wrong"),
    ReasonKind.WRONG_SAMPLES: (
        {"wrong": 2, "checked": 9, "problems": ["a", "b"]},
        "2 of 9 responses sampled during the load were wrong: a; b",
    ),
    ReasonKind.REQUESTS_FAILED: (
        {"share": 0.0476, "limit_share": 0.001, "errors": {"reset": 5}},
        "4.76% of requests failed, more than 0.10% (reset 5)",
    ),
    ReasonKind.TRUNCATED: (
        {"received_bytes": 1000, "expected_bytes": 2000, "place": "bodies"},
        "1,000 bytes received, 2,000 expected in bodies: responses were truncated",
    ),
    ReasonKind.RATE_NOT_REACHED: ({"offered_rps": 2000, "achieved_rps": 1000}, "offered 2,000 requests/s, achieved 1,000 (50.0%)"),
    ReasonKind.GENERATOR_SHORT: (
        {"programs": [GENERATOR]},
        "generator-bound (generator 0.99 of 1 core): it may be unable to offer more",
    ),
    ReasonKind.RATE_NOT_HELD: (
        {"offered_rps": 300, "share_min": 0.99},
        "held none of 300 requests/s (achieved / offered at least 99%)",
    ),
    ReasonKind.STALLED: (
        {"little_ratio": 0.5},
        "connections stalled for 50.0% of the time (throughput × mean service time / requests in flight = 0.500)",
    ),
    ReasonKind.IMPOSSIBLE_THROUGHPUT: (
        {"little_ratio": 1.5},
        "throughput × mean service time is 1.500 × requests in flight, which is impossible: a clock or a count is wrong",
    ),
    ReasonKind.NOT_SAMPLED: ({}, "CPU time was not sampled, so the limit is unknown"),
    ReasonKind.TARGET_NOT_SAMPLED: (
        {"programs": [GENERATOR, {"name": "target"}]},
        "the target's CPU time is unknown, so its limit is unknown (generator 0.99 of 1 core, target not sampled)",
    ),
    ReasonKind.GENERATOR_BOUND: (
        {"programs": [{"name": "generator", "fullest_thread_cores": 0.98, "load_host": "load2"}]},
        "generator-bound (generator 0.98 of a core in its fullest thread, on load host load2)",
    ),
    ReasonKind.BOTH_BUSY: (EACH, f"both busy ({USE}): another load generator might show more"),
    ReasonKind.BOTH_NEARLY_FULL: (EACH, f"target and generator were both nearly full ({USE}): the target can do more"),
    ReasonKind.QUOTA_STOPPED_BOTH: (EACH, f"a CPU quota stopped target and generator: the results are those of both together ({USE})"),
    ReasonKind.TARGET_QUOTA_USED: (
        {"programs": [{"name": "target", "cores": 0.49, "capacity": 0.5}]},
        "the target used up its CPU quota (0.49 of 0.5 cores)",
    ),
    ReasonKind.THREAD_FULL: (
        {"threads": 4, "thread_cores_max": 0.97, "mean_share": 0.3},
        "one of the target's 4 threads was full (0.97 of a core, mean 0.30)",
    ),
    ReasonKind.POLLS: (
        {"threads": 1.0, "generator_is_nearly_full": False, **EACH},
        f"the target polls (1.00 threads busy without requests), so its CPU time does not show whether it is full ({USE})",
    ),
    ReasonKind.RETRANSMISSIONS: (
        {"timeouts": 1161, "time_share_min": 0.05},
        "connections waited 1,161 times for TCP to resend a lost segment, at least 5% of their time",
    ),
    ReasonKind.LINK_FULL: (
        {"link": "eth0", "bits_per_s": 0.987e9, "capacity_bits_per_s": 1e9, "host": "load1"},
        "the network link eth0 was full (0.987 of 1 Gbit/s on load host load1)",
    ),
    ReasonKind.BACKEND_BOUND: (
        {"programs": [{"name": "backend", "cores": 1.85, "capacity": 2, "host": "load1"}]},
        "backend-bound (backend 1.85 of 2 cores on load1)",
    ),
    ReasonKind.BACKEND_SHARED: (TOGETHER, f"generator and backend filled the cores that they share ({SHARE})"),
    ReasonKind.DATABASE_BOUND: (
        {"programs": [{"name": "database", "cores": 0.95, "capacity": 1}]},
        "database-bound (database 0.95 of 1 core)",
    ),
    ReasonKind.DATABASE_THROTTLED: (
        {"periods_share": 0.4},
        "database-bound (a CPU quota stopped the database in 40% of its periods)",
    ),
    ReasonKind.DATABASE_SHARED: (TOGETHER, f"generator and database filled the cores that they share ({SHARE})"),
    ReasonKind.SHARED_CORES_FULL: (
        TOGETHER,
        f"shared cores were full: the results are those of target and generator together ({SHARE})",
    ),
    ReasonKind.RATE_LEFT_IDLE: (TOGETHER, f"the offered rate left cores idle ({SHARE})"),
    ReasonKind.NEITHER_BUSY: (EACH, f"neither busy ({USE}): the target waited, or the load is too small"),
    ReasonKind.QUOTA_STOPPED_TARGET: ({"periods_share": 0.99}, "the target's CPU quota stopped it in 99% of the quota's periods"),
    ReasonKind.STEAL: (INNER["data"], "steal: other virtual machines took 6% of core 0"),  # type: ignore[dict-item]
    ReasonKind.OTHERS_TOOK: (
        {"places": PLACES, "by": BY},
        "other programs took 0.49 of the target's core and 0.20 of the 2 cores of backend and load generator: "
        "spin (pid 0) 0.10, spin (pid 1) 0.10, spin (pid 2) 0.10, 2 others 0.20",
    ),
    ReasonKind.STOLEN: ({"places": PLACES[:1]}, "other virtual machines took 0.49 of the target's core"),
    ReasonKind.SHARED_QUOTA: (
        {"cores": 0.3, "quota_cores": 2, "periods_share": 0.5},
        "other programs took 0.30 of the 2.00 cores of a CPU quota, which stopped all of them in 50% of its periods",
    ),
    ReasonKind.WAITED: ({"program": "target", "share": 0.6}, "the target waited for a CPU 60% of the time"),
    ReasonKind.OTHERS_TOOK_ON_HOST: (
        {"cores": 0.3, "host": "load1", "host_cores": 1},
        "other programs took 0.30 of the core of load host load1",
    ),
    ReasonKind.STOLEN_ON_HOST: (
        {"cores": 0.3, "host": "load1", "host_cores": 4},
        "other virtual machines took 0.30 of the 4 cores of load host load1",
    ),
    ReasonKind.WAITED_ON_HOST: (
        {"share": 0.3, "host": "load1"},
        "the load generator waited for a CPU 30% of the time on load host load1",
    ),
    ReasonKind.RATE_CHANGED: (
        {"last_rps": 900, "last_s": 5.5, "overall_rps": 1000},
        "900 responses/s in the last 5.5 s, 1,000 overall",
    ),
    ReasonKind.WARMUP_STILL_CHANGED: ({"warmup_s": 9}, "throughput still changed after 9.0 s of warm-up"),
    ReasonKind.WARMUP_TOO_SHORT: (
        {"warmup_s": 9.6, "hidden_share": 0.059},
        "9.6 s of warm-up were too short: the noise hides changes below 5.9%",
    ),
    ReasonKind.TARGET_DIED_UNDER_LOAD: ({"death": "exit code 3"}, "the target died under the load (exit code 3)"),
    ReasonKind.BACKEND_DIED_UNDER_LOAD: ({"death": "exit code 3"}, "the backend died under the load (exit code 3)"),
    ReasonKind.DATABASE_DIED_UNDER_LOAD: ({"death": "exit code 3"}, "the database died under the load (exit code 3)"),
    ReasonKind.OUT_OF_MEMORY: (
        {"kills": 2},
        "out of memory: the kernel killed processes inside the container at its memory limit (2 so far)",
    ),
    ReasonKind.WRONG_AFTER_LOAD: ({"problems": ["status 500"]}, "after the load the target status 500"),
    ReasonKind.DATABASE_NOT_ASKED: (
        {"selects": 5, "responses": 10, "required_selects": 10},
        "the database received 5 SELECT statements for 10 responses, which require 10: the target did not ask it each time",
    ),
    ReasonKind.DATABASE_NOT_READ: (
        ROWS,
        "the database read 5 rows for 10 responses, which require 10: the target did not ask it each time",
    ),
    ReasonKind.DATABASE_NOT_WRITTEN: (
        ROWS,
        "the database wrote 5 rows for 10 responses, which require 10: the target did not write its updates",
    ),
    ReasonKind.FAILED_BEFORE_FAULT: ({"failed": 1_200}, "1,200 requests failed before the backend did"),
    ReasonKind.SECOND_BACKEND_UNUSED: (
        {"share": 0.021},
        "the proxy sent only 2% of the requests to the second backend before it failed",
    ),
    ReasonKind.BACKEND_NOT_ASKED: (
        {"requests": 200, "responses": 12_000},
        "the backend handled 200 requests for 12,000 responses: the proxy responded without it",
    ),
    ReasonKind.BACKEND_NOT_CONNECTED: (
        {"accepted": 1, "opened": 64},
        "the backend accepted 1 connection for 64 of the load generator: the proxy did not relay each of them",
    ),
    ReasonKind.BYTES_DIFFER: ({}, "bytes were lost, changed or invented between backend and load generator"),
    ReasonKind.BYTES_MAY_BE_LOST: ({"target": "proxy:c/x"}, "httpbench verify proxy:c/x shows whether bytes are lost"),
    ReasonKind.CRASHED_ON_SIGTERM: ({"exit": "killed by signal 11"}, "crashed on SIGTERM (killed by signal 11)"),
    ReasonKind.IGNORED_SIGTERM: ({"killed": ["sh (pid 7)"]}, "did not end on SIGTERM and was killed: sh (pid 7)"),
    ReasonKind.LEFT_PROCESSES: (
        {"killed": ["sh (pid 7)", "sleep (pid 8)"]},
        "left processes running after SIGTERM, which were killed: sh (pid 7), sleep (pid 8)",
    ),
    ReasonKind.HELD_PORT: ({"held_s": 0.8}, "its port accepted connections for 0.8 s after its end"),
    ReasonKind.FILLED_LOG: ({"dropped_bytes": 12_000_000}, "wrote more to its log than is kept (12 MB) during the trial"),
    ReasonKind.CLIENT_REQUESTS: ({"sent": 1, "required": 1000}, "sent 1 request instead of 1,000"),
    ReasonKind.CLIENT_IN_FLIGHT: ({"in_flight_max": 10}, "had 10 requests in flight at once instead of one after the other"),
    ReasonKind.CLIENT_PIPELINED: ({"pipelined": 999}, "sent 999 requests before the previous response had arrived"),
    ReasonKind.CLIENT_CONNECTIONS: ({"opened": 2, "required": 1}, "opened 2 connections instead of 1"),
    ReasonKind.CLIENT_WRONG_REQUESTS: ({"wrong": 1}, "sent 1 wrong request (not GET, another path, or not HTTP)"),
    ReasonKind.CLIENT_BYTES: (
        {"received_bytes": 11_000, "required_bytes": 12_000},
        "received 11,000 bytes of bodies instead of 12,000",
    ),
    ReasonKind.CLIENT_PRINTED: ({"printed": "{0}", "required": "10 120"}, 'printed "{0}" instead of "10 120"'),
    ReasonKind.FAILED: (ERROR, "no port is free; end a program"),
    ReasonKind.USAGE: (ERROR, "no port is free; end a program"),
    ReasonKind.NOT_BUILT: (ERROR, "no port is free; end a program"),
    ReasonKind.REQUIREMENT_MISSING: (ERROR, "no port is free; end a program"),
    ReasonKind.NOT_STARTED: ({"message": "no port is free"}, "no port is free"),
    ReasonKind.TARGET_DIED: (ERROR, "no port is free; end a program"),
    ReasonKind.NOT_STOPPED: (ERROR, "no port is free; end a program"),
    ReasonKind.CONTAINER_FAILED: (ERROR, "no port is free; end a program"),
    ReasonKind.LIMIT_NOT_IN_FORCE: (ERROR, "no port is free; end a program"),
    ReasonKind.LOAD_FAILED: (ERROR, "no port is free; end a program"),
    ReasonKind.LOAD_HOST_LOST: (ERROR, "no port is free; end a program"),
    ReasonKind.CORES_IN_USE: (ERROR, "no port is free; end a program"),
    ReasonKind.NOT_STORED: (ERROR, "no port is free; end a program"),
    ReasonKind.NOT_MEASURED: ({}, "nothing was measured"),
    ReasonKind.TOO_FEW_RESPONSES: ({"figure": "p99_99"}, "too few responses for p99.99"),
    ReasonKind.LATENCY_MISSED: ({"figure": "p50", "latency_us": 412.3}, "p50 was 0.412 ms"),
    ReasonKind.REPEATED: (
        {"reasons": [INNER, OTHER], "rounds": 2},
        "steal: other virtual machines took 6 to 20% of core 0, in 2 rounds",
    ),
    ReasonKind.WORST_ROUND: (
        {"reason": INNER, "found": 2, "rounds": 3},
        "steal: other virtual machines took 6% of core 0 (worst of 2 in 3 rounds)",
    ),
    ReasonKind.ROUNDS_DIFFER: ({"verdicts": {"target": 2, "idle": 1}}, "rounds differ: 2 target, 1 idle"),
    ReasonKind.LOST_ROUNDS: (
        {"found": 2, "rounds": 3, "reason": INNER},
        "2 of 3 rounds failed or are invalid: steal: other virtual machines took 6% of core 0",
    ),
    ReasonKind.NOT_STEADY: (
        {"found": 1, "rounds": 3, "reason": {"kind": "warmup_still_changed", "data": {"warmup_s": 9}}},
        "not steady in 1 of 3 rounds: throughput still changed after 9.0 s of warm-up",
    ),
    ReasonKind.NOT_SHOWN_STEADY: (
        {"found": 1, "rounds": 1, "reason": {"kind": "warmup_too_short", "data": {"warmup_s": 9}}},
        "not shown to be steady: 9.0 s of warm-up were too short",
    ),
    ReasonKind.ROUNDS_INVALID: (
        {"found": 1, "rounds": 3, "reasons": [{"kind": "bytes_differ", "data": {}}]},
        "1 of 3 rounds not valid: bytes were lost, changed or invented between backend and load generator",
    ),
    ReasonKind.ROUNDS_DISTURBED: ({"found": 1, "rounds": 3}, "1 of 3 rounds disturbed: by other programs"),
    ReasonKind.HOPELESS: (
        {"rounds": 3, "reasons": [INNER, OTHER]},
        "stopped after round 1 of 3: no trial is valid, all for the same reason: steal: other virtual machines took 6 to 20% of core 0",
    ),
}


@pytest.mark.parametrize("kind", ReasonKind)
def test_every_kind_has_a_sentence_without_placeholders(kind: ReasonKind) -> None:
    data, said = EXAMPLES[kind]
    assert sentence(Reason(kind=kind, data=data)) == said
    if kind not in (ReasonKind.TEXT, ReasonKind.CLIENT_PRINTED):  # these contain braces on purpose
        assert not re.search(r"[{}]|\bNone\b", said)


def test_every_kind_but_errors_has_its_own_sentence() -> None:
    assert SENTENCES.keys() == {kind for kind, (data, _) in EXAMPLES.items() if "message" not in data}


def test_a_reason_of_an_earlier_version_is_its_own_sentence() -> None:
    verdict = Verdict.model_validate({"kind": "invalid", "reasons": ["3 responses were wrong", "and more"]})
    assert verdict.reasons[0] == Reason.of(ReasonKind.TEXT, text="3 responses were wrong")
    assert sentences(verdict) == ["3 responses were wrong", "and more"]
    assert joined(verdict.reasons) == "3 responses were wrong; and more"


def test_a_stored_reason_is_read_back_unchanged() -> None:
    reasons = tuple(Reason(kind=kind, data=data) for kind, (data, _) in EXAMPLES.items())
    verdict = Verdict(kind=VerdictKind.INVALID, reasons=reasons)
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict
