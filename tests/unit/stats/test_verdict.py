"""Tests of verdicts: each rule on both sides of its threshold, and properties that hold for any evidence."""

from __future__ import annotations

import dataclasses
import heapq
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.model import (
    Arrivals,
    CoreOccupancy,
    Cores,
    Criteria,
    Events,
    Expectation,
    Interval,
    LinkUse,
    Load,
    Network,
    Observed,
    ReasonKind,
    Request,
    Requests,
    Scaling,
    Step,
    Usage,
    Verdict,
    VerdictKind,
    Workload,
)
from httpbench.report.words.reasons import joined, sentence, sentences
from httpbench.stats.evidence import Evidence
from httpbench.stats.validity import failed_requests, little_ratio, rate_held, response_size, untrue
from httpbench.stats.verdict import judge
from tests.factories import APART, HELLO, SHARED, make_distribution, make_host_share, make_load_host_use, make_measurement, make_usage

LOAD = Load(connections=64, threads=1)
WRONG = make_measurement(requests=Requests(completed=10_000, ok=9_999))
PLAINTEXT = Workload(name="plaintext", description="", expect=Expectation(body=HELLO))


def make_evidence(target_cores: float = 0.99, generator_cores: float = 0.6, **changes: Any) -> Evidence:
    values: dict[str, Any] = {
        "measurement": make_measurement(),
        "load": LOAD,
        "cores": APART,
        "target_usage": make_usage(target_cores),
        "generator_usage": make_usage(generator_cores),
        **changes,
    }
    seen = {name: values.pop(name) for name in Observed.model_fields if name in values}
    return Evidence(**values, observed=Observed(**seen))


def sized(workload: Workload) -> Criteria:
    size, part = response_size(workload)
    return Criteria(response_bytes_min=size, response_part=part)


def requests(completed: int, ok: int | None = None, **errors: int) -> Evidence:
    counted = Requests(completed=completed, ok=completed if ok is None else ok)
    return make_evidence(measurement=make_measurement(requests=counted, errors=errors))


def kind_of(evidence: Evidence) -> VerdictKind:
    return judge(evidence).kind


# --- are the results valid? ----------------------------------------------------------------------------------------------------


def test_no_correct_response_is_reported_once_with_the_errors() -> None:
    verdict = judge(requests(0, connect_refused=640))
    assert verdict.kind is VerdictKind.INVALID
    assert tuple(sentences(verdict)) == ("no correct response (connect refused 640)",)


def streams(count: int, *, lost: int | None = None, begun: int = 64, load: Load = LOAD, **errors: int) -> Evidence:
    times = {"first_us": make_distribution(count=begun), "between_us": make_distribution(count=count), "between_censored": 0}
    events = Events(count=count, streams=min(count, 64), numbered_streams=64, lost=lost, first_censored=0, **times)
    return make_evidence(measurement=make_measurement(requests=Requests(completed=0, ok=0), events=events, errors=errors), load=load)


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        (streams(0, timeout=64), "no event arrived (timeout 64)"),
        (streams(900, lost=3), "3 events lost: ids are missing in 64 streams"),
        (streams(900, closed_early=1), "1.54% of requests failed, more than 0.10% (closed early 1)"),
        (streams(900, unexpected_content_type=1), "1 of 0 responses were wrong (unexpected content type 1)"),
        (streams(900, begun=64, load=Load(rate_rps=10)), "offered 10 requests/s, achieved 6 (64.0%)"),
    ],
)
def test_event_streams_are_invalid_without_all_events(evidence: Evidence, reason: str) -> None:
    verdict = judge(evidence)
    assert verdict.kind is VerdictKind.INVALID
    assert sentences(verdict)[0] == reason


def test_event_streams_need_no_complete_response() -> None:
    assert kind_of(streams(900)) is VerdictKind.TARGET
    assert kind_of(streams(900, lost=0, begun=100, load=Load(rate_rps=10))) is VerdictKind.TARGET


@pytest.mark.parametrize("errors", [{"unexpected_body": 1}, {"unexpected_status": 1}, {}])
def test_one_wrong_response_makes_a_trial_invalid(errors: dict[str, int]) -> None:
    verdict = judge(requests(1_000_000, 999_999, **errors))
    assert verdict.kind is VerdictKind.INVALID
    assert "1 of 1,000,000 responses were wrong" in sentence(verdict.reasons[0])


def test_late_responses_are_errors_but_not_wrong() -> None:
    assert kind_of(requests(1_000_000, 999_990, timeout=10)) is VerdictKind.TARGET


@pytest.mark.parametrize(("errors", "kind"), [(1000, VerdictKind.TARGET), (1003, VerdictKind.INVALID)])
def test_one_error_in_a_thousand_is_allowed(errors: int, kind: VerdictKind) -> None:
    assert kind_of(requests(1_000_000, reset=errors)) is kind


def test_the_allowed_error_share_is_configurable() -> None:
    evidence = requests(100, reset=5)
    verdict = judge(evidence)
    assert tuple(sentences(verdict)) == ("4.76% of requests failed, more than 0.10% (reset 5)",)
    assert judge(dataclasses.replace(evidence, criteria=Criteria(failed_share_max=0.05))).kind is not VerdictKind.INVALID


def test_wrong_responses_listed_as_errors_count_once() -> None:
    assert failed_requests(make_measurement(requests=Requests(completed=100, ok=90), errors={"unexpected_status": 10})) == 10
    assert failed_requests(make_measurement(requests=Requests(completed=100, ok=90))) == 10
    assert failed_requests(make_measurement(requests=Requests(completed=100, ok=90), errors={"unexpected_status": 10, "reset": 5})) == 15


@pytest.mark.parametrize(("per_answer", "kind"), [(13, VerdictKind.TARGET), (12, VerdictKind.INVALID)])
def test_truncated_bodies_are_detected_by_their_size(per_answer: int, kind: VerdictKind) -> None:
    measurement = make_measurement(bytes_received=4_000_000 * per_answer)
    assert kind_of(make_evidence(measurement=measurement, criteria=sized(PLAINTEXT))) is kind


@pytest.mark.parametrize(("windows", "http2", "responses"), [(1, False, 64), (4, False, 256), (1, True, 640)])
def test_a_part_of_each_first_response_may_arrive_before_a_window(windows: int, http2: bool, responses: int) -> None:
    """With large bodies, the responses that are in flight when a window begins are much of what arrives."""
    counted, size = 1000, 1_000_000
    load = LOAD.model_copy(update={"connections": 64, "pipeline": 10, "http2": http2})

    def is_truncated(lacking: float) -> bool:
        received = round((0.99 * counted - lacking) * size)
        measurement = make_measurement(bytes_received=received, requests=Requests(completed=counted, ok=counted))
        criteria = Criteria(response_bytes_min=size, response_part="bodies")
        evidence = make_evidence(measurement=measurement, load=load, criteria=criteria, slices=windows)
        return any(reason.kind is ReasonKind.TRUNCATED for reason in untrue(evidence))

    assert not is_truncated(responses - 0.5)
    assert is_truncated(responses + 0.5)


def test_responses_to_head_have_no_body() -> None:
    head = PLAINTEXT.model_copy(update={"request": Request(method="HEAD")})
    assert kind_of(make_evidence(measurement=make_measurement(bytes_received=4_000_000 * 5), criteria=sized(head))) is VerdictKind.TARGET


@pytest.mark.parametrize(("reached", "kind"), [(9_900, VerdictKind.IDLE), (9_899, VerdictKind.INVALID)])
def test_an_offered_rate_must_be_reached(reached: float, kind: VerdictKind) -> None:
    load = LOAD.model_copy(update={"rate_rps": 10_000})
    assert kind_of(make_evidence(0.2, 0.2, load=load, measurement=make_measurement(reached))) is kind


@pytest.mark.parametrize(
    ("rate", "responses", "kind"),
    [
        (10, 29, VerdictKind.IDLE),
        (10, 28, VerdictKind.IDLE),
        (10, 27, VerdictKind.INVALID),
        (1000, 2968, VerdictKind.IDLE),
        (1000, 2967, VerdictKind.INVALID),
    ],
)
def test_a_constant_rate_may_miss_requests_at_its_edges(rate: float, responses: int, kind: VerdictKind) -> None:
    load = Load(connections=1, rate_rps=rate, duration_s=3)
    assert kind_of(make_evidence(0.2, 0.2, load=load, measurement=make_measurement(responses / 3, 3.0))) is kind


@pytest.mark.parametrize(
    ("counts", "arrivals", "kind"),
    [
        ([2500] * 12, Arrivals.CONSTANT, VerdictKind.IDLE),
        ([2400] * 12, Arrivals.CONSTANT, VerdictKind.INVALID),
        ([3100, 2500, 1500, 2500] * 3, Arrivals.CONSTANT, VerdictKind.IDLE),  # stalls delay responses into the next slice
        ([2410, 2390] * 6, Arrivals.CONSTANT, VerdictKind.INVALID),
        ([2490, 2390] * 6, Arrivals.POISSON, VerdictKind.INVALID),  # Poisson arrivals vary by this much
        ([3100, 2500, 1500, 2500] * 3, Arrivals.POISSON, VerdictKind.IDLE),
    ],
)
def test_a_slice_may_lose_responses_that_a_stall_delays(counts: list[int], arrivals: Arrivals, kind: VerdictKind) -> None:
    """The slices last 250 ms, at 10,000 requests/s. A target that is too slow loses about the same number of responses in each slice."""
    load = Load(connections=64, rate_rps=10_000, duration_s=3, arrivals=arrivals)
    intervals = tuple(Interval(start_s=0.25 * number, duration_s=0.25, completed=count) for number, count in enumerate(counts))
    requests = Requests(sent=30_000, completed=sum(counts), ok=sum(counts))
    measurement = make_measurement(sum(counts) / 3, 3.0).model_copy(update={"intervals": intervals, "requests": requests})
    assert kind_of(make_evidence(0.2, 0.2, load=load, measurement=measurement, slices=len(counts))) is kind


def in_slices(rate: float, response_s: float, workers: int, seed: int) -> Evidence:
    """Return evidence from ten slices of 100 ms of Poisson arrivals. Each worker responds to one request at a time."""
    random, counts, completed, sent = Random(seed), [], 0, 0
    for _ in range(10):
        start_s = random.uniform(response_s, 3 * response_s)
        now_s, free_s = random.expovariate(rate), [0.0] * workers
        received = 0
        while now_s < start_s + 0.1:
            done_s = max(now_s, heapq.heappop(free_s)) + response_s
            heapq.heappush(free_s, done_s)
            received += start_s <= done_s < start_s + 0.1
            completed += start_s <= now_s and done_s < start_s + 0.1
            sent += start_s <= now_s
            now_s += random.expovariate(rate)
        counts.append(received)
    load = Load(connections=64, rate_rps=rate, duration_s=1, arrivals=Arrivals.POISSON)
    intervals = tuple(Interval(start_s=0.1 * number, duration_s=0.1, completed=count) for number, count in enumerate(counts))
    requests = Requests(sent=sent, completed=completed, ok=completed)
    measurement = make_measurement(sum(counts), 1.0).model_copy(update={"intervals": intervals, "requests": requests})
    return make_evidence(0.2, 0.2, load=load, measurement=measurement, slices=10)


@pytest.mark.parametrize(("rate", "response_s"), [(100, 0.02), (100, 0.05), (1_000, 0.02), (10_000, 0.001), (1_000, 0.0)])
def test_responses_that_are_late_by_chance_do_not_make_slices_invalid(rate: float, response_s: float) -> None:
    """At 100 requests/s and 20 ms per response, for example, a fifth of the responses arrive after their window."""
    kinds = [kind_of(in_slices(rate, response_s, 64, seed)) for seed in range(200)]
    assert kinds.count(VerdictKind.INVALID) <= 2


@pytest.mark.parametrize("missing", [0.08, 0.15, 0.5])
def test_slices_show_that_a_target_is_too_slow_for_poisson_arrivals(missing: float) -> None:
    kinds = [kind_of(in_slices(10_000, 4 / ((1 - missing) * 10_000), 4, seed)) for seed in range(20)]
    assert kinds.count(VerdictKind.INVALID) == 20


def with_ratio(ratio: float, **changes: Any) -> Evidence:
    """Return evidence in which throughput × mean time / requests in flight (Little's law) has this value."""
    mean_us = ratio * LOAD.connections / 400_000 * 1e6
    values = {"measurement": make_measurement(service_time_us=make_distribution(150).model_copy(update={"mean": mean_us}))}
    return make_evidence(**{**values, **changes})


@pytest.mark.parametrize(
    ("ratio", "kind"),
    [(0.96, VerdictKind.INVALID), (0.975, VerdictKind.TARGET), (1.005, VerdictKind.TARGET), (1.02, VerdictKind.INVALID)],
)
def test_littles_law_must_hold_in_a_closed_loop(ratio: float, kind: VerdictKind) -> None:
    evidence = with_ratio(ratio)
    assert little_ratio(evidence) == pytest.approx(ratio)
    assert kind_of(evidence) is kind


def test_requests_cut_off_at_the_edges_may_change_the_ratio() -> None:
    """A stall of 300 ms at the beginning or end of a measurement of 10 s changes the ratio by up to 3%."""
    stalled = with_ratio(1.035)
    times = stalled.measurement.service_time_us
    assert times is not None
    longest = times.model_copy(update={"max": 300_000.0})
    assert kind_of(stalled) is VerdictKind.INVALID
    measurement = stalled.measurement.model_copy(update={"service_time_us": longest})
    assert kind_of(make_evidence(measurement=measurement)) is VerdictKind.TARGET


@pytest.mark.parametrize(
    ("age_s", "unfinished", "kind"),
    [
        (0.65, 64, VerdictKind.TARGET),
        (0.65, 32, VerdictKind.INVALID),
        (0.0, 0, VerdictKind.INVALID),
        (10.0, 5, VerdictKind.INVALID),
    ],
    ids=["a stall at the end", "half of what is missing", "nothing in flight", "connections without any response"],
)
def test_a_stall_at_the_end_counts_like_one_in_the_middle(age_s: float, unfinished: int, kind: VerdictKind) -> None:
    """In each case, the connections are served for 93.5% of the ten seconds on average."""
    measurement = with_ratio(0.935).measurement.model_copy(update={"unfinished": unfinished, "unfinished_s": age_s * unfinished})
    assert kind_of(make_evidence(measurement=measurement)) is kind


def test_stalled_connections_are_reported() -> None:
    assert "connections stalled for 50.0% of the time" in sentence(judge(with_ratio(0.5)).reasons[0])


@pytest.mark.parametrize(
    ("slices", "waited", "kind"),
    [(4, 0.35, VerdictKind.DISTURBED), (1, 0.35, VerdictKind.DISTURBED), (4, 0.0, VerdictKind.INVALID), (None, 0.35, VerdictKind.INVALID)],
    ids=["slices", "one slice", "nothing disturbed it", "a whole trial"],
)
def test_a_disturbance_at_the_start_of_a_slice_is_no_stall_of_the_target(slices: int | None, waited: float, kind: VerdictKind) -> None:
    """Requests that wait when a window begins aren't in its mean, so the ratio is too low, although no recorded time is long."""
    seen = {"generator_usage": make_usage(0.6, cpu_wait_cores_mean=waited, threads=1), "target_usage": make_usage(0.6)}
    assert kind_of(with_ratio(0.7, slices=slices, criteria=Criteria(accepts_disturbed=True), **seen)) is kind


@pytest.mark.parametrize(
    ("waited", "age_s", "unfinished", "kind"),
    [
        (0.35, 4.0, 64, VerdictKind.DISTURBED),
        (0.35, 5.0, 51, VerdictKind.INVALID),
        (0.05, 4.0, 64, VerdictKind.INVALID),
        (0.35, 10.0, 26, VerdictKind.INVALID),
    ],
    ids=["no longer than the disturbance", "longer", "no disturbance", "connections without any response"],
)
def test_a_disturbance_may_cause_a_stall_at_the_end(waited: float, age_s: float, unfinished: int, kind: VerdictKind) -> None:
    """In each case, the connections are served for 60% of the ten seconds on average."""
    seen = {"generator_usage": make_usage(0.6, cpu_wait_cores_mean=waited, threads=1), "target_usage": make_usage(0.6)}
    evidence = with_ratio(0.6, criteria=Criteria(accepts_disturbed=True), **seen)
    changes = {"unfinished": unfinished, "unfinished_s": age_s * unfinished}
    assert kind_of(dataclasses.replace(evidence, measurement=evidence.measurement.model_copy(update=changes))) is kind


def test_a_disturbance_of_one_of_many_cores_does_not_excuse_connections_without_a_response() -> None:
    cores = Cores(target=(0, 1, 2, 3), generator=(4, 5, 6, 7), harness=(4, 5, 6, 7), shared=False)
    seen = {"generator_usage": make_usage(2.0, cpu_wait_cores_mean=1.0, threads=4), "target_usage": make_usage(2.0)}
    load = LOAD.model_copy(update={"threads": 4})
    evidence = with_ratio(0.6, cores=cores, load=load, criteria=Criteria(accepts_disturbed=True), **seen)
    measurement = evidence.measurement.model_copy(update={"unfinished": 26, "unfinished_s": 26 * 10.0})
    assert kind_of(dataclasses.replace(evidence, measurement=measurement)) is VerdictKind.INVALID


def test_pipelined_requests_are_all_in_flight() -> None:
    load = LOAD.model_copy(update={"pipeline": 4})
    assert little_ratio(with_ratio(4.0, load=load)) == pytest.approx(1)


@pytest.mark.parametrize(
    "changes",
    [
        {"load": LOAD.model_copy(update={"rate_rps": 400_000})},
        {"measurement": make_measurement(means_every_request=False, service_time_us=make_distribution(75))},
        {"measurement": make_measurement(service_time_us=None)},
        {"measurement": make_measurement(service_time_us=make_distribution(75, mean=None))},
        {"measurement": make_measurement(600, requests=Requests(completed=6_300, ok=6_300))},
        {"measurement": make_measurement(service_time_us=make_distribution(75), connections_opened=4_000_000)},
    ],
    ids=["open loop", "another generator", "no times", "no mean", "few requests", "a connection per request"],
)
def test_littles_law_is_not_checked_where_it_need_not_hold(changes: dict[str, Any]) -> None:
    evidence = make_evidence(**changes)
    assert little_ratio(evidence) is None
    assert kind_of(evidence) is not VerdictKind.INVALID


def test_all_problems_are_reported_at_once() -> None:
    evidence = requests(1000, 900, unexpected_status=100, timeout=3)
    assert len(judge(evidence).reasons) == 2


# --- what limited it? ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "generator", "kind"),
    [
        (0.99, 0.50, VerdictKind.TARGET),
        (0.90, 0.50, VerdictKind.TARGET),
        (0.90, 0.89, VerdictKind.TARGET),
        (0.97, 0.94, VerdictKind.TARGET),
        (0.97, 0.95, VerdictKind.BOTH),
        (1.00, 1.00, VerdictKind.BOTH),
        (0.96, 1.00, VerdictKind.BOTH),
        (0.91, 1.00, VerdictKind.BOTH),
        (0.89, 1.00, VerdictKind.BOTH),
        (0.80, 0.90, VerdictKind.BOTH),
        (0.79, 0.95, VerdictKind.GENERATOR),
        (0.10, 1.00, VerdictKind.GENERATOR),
        (0.79, 0.94, VerdictKind.IDLE),
        (0.89, 0.89, VerdictKind.IDLE),
        (0.01, 0.02, VerdictKind.IDLE),
    ],
)
def test_the_busy_program_is_the_limit(target: float, generator: float, kind: VerdictKind) -> None:
    assert kind_of(make_evidence(target, generator)) is kind


def test_a_busy_target_next_to_an_idle_generator_needs_no_reason() -> None:
    assert judge(make_evidence(0.99, 0.5)).reasons == ()


def test_verdict_both_reports_how_full_each_was() -> None:
    assert tuple(sentences(judge(make_evidence(0.91, 1.0)))) == (
        "target and generator were both nearly full (generator 1.00 of 1 core, target 0.91 of 1 core): the target can do more",
    )


FOUR = Cores(target=(0, 1), generator=(2, 3), harness=(4,), shared=False)


def test_a_single_core_target_is_busy_at_one_of_two_cores() -> None:
    assert kind_of(make_evidence(1.0, 0.5, cores=FOUR, scaling=Scaling.SINGLE)) is VerdictKind.TARGET
    assert kind_of(make_evidence(1.0, 0.5, cores=FOUR, scaling=Scaling.MULTI)) is VerdictKind.IDLE


SMT = Cores(
    target=(0, 1, 2, 3, 8, 9, 10, 11),
    generator=(4, 5, 6, 12, 13, 14),
    harness=(7, 15),
    shared=False,
    siblings=tuple((cpu, cpu + 8) for cpu in range(8)),
)
"""Eight physical cores with two threads each: four for the target, three for the generator."""


def test_four_full_workers_fill_four_cores_with_smt() -> None:
    assert kind_of(make_evidence(4.0, 0.5, cores=SMT, scaling=Scaling.MULTI)) is VerdictKind.TARGET
    assert kind_of(make_evidence(3.2, 0.5, cores=SMT, scaling=Scaling.MULTI)) is VerdictKind.IDLE
    assert "3.20 of 4 cores" in sentence(judge(make_evidence(3.2, 0.5, cores=SMT, scaling=Scaling.MULTI)).reasons[0])


def test_a_single_threaded_target_on_siblings_has_one_core() -> None:
    cores = Cores(target=(0, 8), generator=(1, 9), harness=(2,), shared=False, siblings=((0, 8), (1, 9)))
    assert kind_of(make_evidence(0.98, 0.5, cores=cores, scaling=Scaling.SINGLE)) is VerdictKind.TARGET
    assert kind_of(make_evidence(0.98, 0.5, cores=cores, scaling=Scaling.MULTI)) is VerdictKind.TARGET


def test_a_generator_on_siblings_is_busy_when_its_physical_cores_are() -> None:
    assert kind_of(make_evidence(0.5, 2.9, cores=SMT, load=Load(connections=64))) is VerdictKind.GENERATOR


def test_a_backend_on_siblings_is_busy_when_its_physical_core_is() -> None:
    cores = Cores(target=(2, 6), generator=(0, 4), harness=(0, 4), backend=(1, 5), shared=False, siblings=((0, 4), (1, 5), (2, 6)))
    assert kind_of(make_evidence(0.5, 0.5, cores=cores, backend_usage=make_usage(0.95))) is VerdictKind.BACKEND


@pytest.mark.parametrize("load", [Load(connections=64, threads=1), Load(connections=1)], ids=["one thread", "one connection"])
def test_a_generator_fills_at_most_one_core_per_thread(load: Load) -> None:
    measurement = make_measurement(service_time_us=None)
    assert kind_of(make_evidence(0.5, 1.0, cores=FOUR, load=load, measurement=measurement)) is VerdictKind.GENERATOR


def test_a_generator_with_one_thread_per_core_fills_all_cores() -> None:
    load = Load(connections=64)
    assert kind_of(make_evidence(0.5, 1.0, cores=FOUR, load=load)) is VerdictKind.IDLE
    assert kind_of(make_evidence(0.5, 1.91, cores=FOUR, load=load)) is VerdictKind.GENERATOR


@pytest.mark.parametrize(
    ("target", "generator", "kind"),
    [
        (1.2, 0.7, VerdictKind.SHARED),
        (0.7, 1.2, VerdictKind.SHARED),
        (1.85, 0.1, VerdictKind.SHARED),
        (0.7, 1.1, VerdictKind.IDLE),
    ],
)
def test_full_shared_cores_are_the_limit_whoever_used_more(target: float, generator: float, kind: VerdictKind) -> None:
    verdict = judge(make_evidence(target, generator, cores=SHARED, load=Load(connections=64)))
    assert verdict.kind is kind
    assert "shared cores" in sentence(verdict.reasons[0])


def test_a_full_generator_thread_is_the_limit_on_idle_shared_cores() -> None:
    load = Load(connections=64, threads=1)
    assert kind_of(make_evidence(0.4, 0.97, cores=SHARED, load=load)) is VerdictKind.GENERATOR


def test_an_offered_rate_that_leaves_idle_cores_is_reported() -> None:
    load = LOAD.model_copy(update={"rate_rps": 400_000})
    assert "left cores idle" in sentence(judge(make_evidence(0.3, 0.3, load=load)).reasons[0])


@pytest.mark.parametrize("changes", [{"target_usage": None}, {"generator_usage": None}])
def test_without_samples_the_limit_is_unknown_but_the_trial_counts(changes: dict[str, Any]) -> None:
    verdict = judge(make_evidence(**changes))
    assert verdict.kind is VerdictKind.UNKNOWN
    assert verdict.counts


@pytest.mark.parametrize(("generator", "kind"), [(0.96, VerdictKind.GENERATOR), (0.94, VerdictKind.UNKNOWN)])
def test_a_full_generator_is_the_limit_of_an_unsampled_target(generator: float, kind: VerdictKind) -> None:
    """The target is a server given by ``--url``."""
    verdict = judge(make_evidence(generator_cores=generator, target_usage=None))
    assert verdict.kind is kind
    assert f"generator {generator:.2f} of 1 core" in sentence(verdict.reasons[0])


# --- what CPU time alone does not show -----------------------------------------------------------------------------------------


def verdict(target_cores: float = 0.4, generator_cores: float = 0.2, **changes: Any) -> tuple[VerdictKind, str]:
    found = judge(make_evidence(target_cores, generator_cores, **{"load": Load(connections=64), **changes}))
    return found.kind, joined(found.reasons)


BY_A_QUOTA = {"throttled_share": 0.9}
"""Usage of a generator that waited because of a quota. Without a quota, such a wait would mean that other programs disturbed the trial."""


@pytest.mark.parametrize(("waited", "kind"), [(0.24, VerdictKind.IDLE), (0.26, VerdictKind.GENERATOR), (None, VerdictKind.IDLE)])
def test_a_generator_kept_off_its_core_is_the_limit(waited: float | None, kind: VerdictKind) -> None:
    found, reason = verdict(generator_usage=make_usage(0.2, cpu_wait_cores_mean=waited, **BY_A_QUOTA))
    assert found is kind
    assert ("waiting for a core 0.26 of the time" in reason) == (kind is VerdictKind.GENERATOR)


@pytest.mark.parametrize(("waited", "kind"), [(0.14, VerdictKind.IDLE), (0.16, VerdictKind.GENERATOR)])
def test_a_generator_that_always_ran_or_waited_is_the_limit(waited: float, kind: VerdictKind) -> None:
    assert verdict(generator_usage=make_usage(0.8, cpu_wait_cores_mean=waited, **BY_A_QUOTA))[0] is kind


def test_a_generator_on_shared_cores_waits_for_the_target() -> None:
    assert verdict(generator_usage=make_usage(0.2, cpu_wait_cores_mean=0.9), cores=SHARED)[0] is VerdictKind.IDLE


def test_a_busy_target_is_not_the_only_limit_if_the_generator_waited() -> None:
    kind, reason = verdict(target_usage=make_usage(0.99), generator_usage=make_usage(0.2, cpu_wait_cores_mean=0.8, **BY_A_QUOTA))
    assert kind is VerdictKind.BOTH
    assert "waiting for a core" in reason


@pytest.mark.parametrize(("again", "kind"), [(159, VerdictKind.IDLE), (161, VerdictKind.NETWORK)])
def test_losses_that_delay_connections_are_the_limit(again: int, kind: VerdictKind) -> None:
    """160 timeouts of 0.2 s each add up to 5% of the 640 s that 64 connections have in total in 10 s."""
    assert verdict(network=Network(segments_sent=10**7, retransmission_timeouts=again))[0] is kind


def test_retransmissions_without_a_timeout_are_not_the_limit() -> None:
    assert verdict(network=Network(segments_retransmitted=10_000, retransmission_timeouts=0))[0] is VerdictKind.IDLE


@pytest.mark.parametrize(("share", "kind"), [(0.89, VerdictKind.IDLE), (0.93, VerdictKind.NETWORK)])
def test_a_full_link_is_the_limit_if_neither_side_was_busy(share: float, kind: VerdictKind) -> None:
    network = Network(fullest_link=LinkUse(name="eth0", bits_per_s=share * 1e9, capacity_bits_per_s=1e9))
    assert verdict(network=network)[0] is kind
    assert verdict(network=network, load=Load(connections=64, rate_rps=400_000))[0] is VerdictKind.IDLE, "the rate was reached"
    assert verdict(network=network, target_usage=make_usage(0.99))[0] is VerdictKind.TARGET
    there = make_load_host_use((0.5,)).model_copy(update={"network": network})
    assert verdict(generator_usage=make_usage(0.5), load_host=there)[0] is kind


def test_losses_are_not_the_limit_if_the_rate_was_reached() -> None:
    load = Load(connections=64, rate_rps=400_000)
    assert verdict(network=Network(retransmission_timeouts=10_000), load=load)[0] is VerdictKind.IDLE


def test_a_rate_beyond_the_generator_is_not_the_targets_fault() -> None:
    load = Load(connections=64, rate_rps=500_000)
    kind, reason = verdict(load=load, generator_usage=make_usage(0.99))
    assert kind is VerdictKind.INVALID
    assert "generator-bound (generator 0.99 of 1 core): it may be unable to offer more" in reason
    assert "generator" not in verdict(load=load)[1]


def both_cores(busy: float, stolen: float) -> tuple[CoreOccupancy, ...]:
    return tuple(CoreOccupancy(cpu=cpu, busy=busy, stolen=stolen) for cpu in (0, 1))


@pytest.mark.parametrize(("busy", "stolen"), [(0.9, 0.0), (0.35, 0.2)])
def test_other_programs_disturb_a_trial_and_are_reported(busy: float, stolen: float) -> None:
    kind, reason = verdict(0.4, 0.3, occupancy=both_cores(busy, stolen))
    assert kind is VerdictKind.DISTURBED
    assert (
        "other programs took 0.50 of the target's core" if busy > 0.4 else "other virtual machines took 0.20 of the target's core"
    ) in reason


def test_without_other_programs_the_trial_is_idle() -> None:
    assert verdict(0.4, 0.3, occupancy=both_cores(0.34, 0.01))[0] is VerdictKind.IDLE


def test_full_targets_and_offered_rates_can_be_disturbed() -> None:
    for rate in (None, 400_000):
        kind, reason = verdict(0.6, occupancy=on_core(1.0), load=Load(connections=64, rate_rps=rate))
        assert kind is VerdictKind.DISTURBED
        assert reason.startswith("other programs took 0.40 of the target's core")


def test_disturbances_excuse_late_but_not_wrong_responses() -> None:
    late = make_measurement(errors={"timeout": 100_000})
    kind, reason = verdict(0.6, occupancy=on_core(1.0), measurement=late)
    assert kind is VerdictKind.DISTURBED
    assert "requests failed" in reason
    kind, reason = verdict(0.6, occupancy=on_core(1.0), measurement=WRONG)
    assert kind is VerdictKind.INVALID
    assert "responses were wrong" in reason and "other programs took" in reason


def test_an_accepted_disturbed_trial_counts_if_valid() -> None:
    true, late = make_measurement(), make_measurement(errors={"timeout": 100_000})
    for measurement, kind in ((true, VerdictKind.DISTURBED), (late, VerdictKind.INVALID)):
        evidence = make_evidence(0.6, 0.2, load=Load(connections=64), occupancy=on_core(1.0), measurement=measurement)
        found = judge(dataclasses.replace(evidence, criteria=Criteria(accepts_disturbed=True)))
        assert (found.kind, found.counts) == (kind, kind is VerdictKind.DISTURBED)
        assert not judge(evidence).counts


# --- interrupts, threads, quotas ----------------------------------------------------------------------------------------------


def on_core(busy: float, interrupts: float = 0.0, stolen: float = 0.0) -> tuple[CoreOccupancy, ...]:
    """Return the occupancy of the target's core and of the generator's core, which is busy for a fifth of the time."""
    return (CoreOccupancy(cpu=0, busy=busy, interrupts=interrupts, stolen=stolen), CoreOccupancy(cpu=1, busy=0.2, stolen=0.0))


def test_interrupts_on_its_own_cores_count_for_the_target() -> None:
    assert verdict(0.7, occupancy=on_core(0.7, 0.25))[0] is VerdictKind.TARGET, "not charged: 0.70 + 0.25"
    assert verdict(0.7, occupancy=on_core(0.45, 0.25))[0] is VerdictKind.IDLE, "charged: 0.25 of the 0.70"
    assert verdict(0.7, occupancy=on_core(0.7, 0.1))[0] is VerdictKind.IDLE


def test_interrupts_do_not_count_for_the_target_beside_other_programs() -> None:
    kind, reason = verdict(0.6, occupancy=on_core(0.75, 0.25))
    assert kind is VerdictKind.DISTURBED
    assert reason == "other programs took 0.15 of the target's core"


def test_interrupts_on_its_own_core_count_for_the_generator() -> None:
    occupancy = (CoreOccupancy(cpu=0, busy=0.3, stolen=0.0), CoreOccupancy(cpu=1, busy=0.7, interrupts=0.28, stolen=0.0))
    assert verdict(0.3, 0.7, occupancy=occupancy)[0] is VerdictKind.GENERATOR


PREFORK: dict[str, Any] = {"cores": FOUR, "scaling": Scaling.PREFORK}


def threaded(cpu_cores: float, fullest: float, threads: int = 2) -> Usage:
    return make_usage(cpu_cores, threads=threads, thread_cores_max=fullest)


def test_an_average_does_not_hide_a_full_worker() -> None:
    kind, reason = verdict(target_usage=threaded(1.6, 1.0), **PREFORK)
    assert kind is VerdictKind.TARGET
    assert "one of the target's 2 threads was full (1.00 of a core, mean 0.80)" in reason
    kind, reason = verdict(target_usage=threaded(1.6, 0.94), **PREFORK)
    assert kind is VerdictKind.IDLE
    assert "its fullest thread 0.94" in reason


def test_an_average_does_not_hide_a_full_generator_thread() -> None:
    kind, reason = verdict(generator_usage=threaded(1.6, 1.0), **PREFORK)
    assert kind is VerdictKind.GENERATOR
    assert "one of its 2 threads was full" in reason


def test_a_polling_generator_thread_is_not_full() -> None:
    polls = make_measurement(busy_cores=0.5)
    assert verdict(generator_usage=threaded(2.0, 1.0), measurement=polls, **PREFORK)[0] is VerdictKind.IDLE


def test_one_full_thread_on_each_side_is_both() -> None:
    kind, _ = verdict(target_usage=threaded(1.6, 1.0), generator_usage=threaded(1.6, 1.0), **PREFORK)
    assert kind is VerdictKind.BOTH


def test_a_throttled_target_is_the_limit_and_reports_its_quota() -> None:
    kind, reason = verdict(target_usage=make_usage(0.5, throttled_share=0.8))
    assert kind is VerdictKind.TARGET
    assert "the target's CPU quota stopped it in 80% of the quota's periods" in reason
    assert verdict(target_usage=make_usage(0.5, throttled_share=0.04))[0] is VerdictKind.IDLE


def test_a_quota_that_throttles_both_is_a_shared_limit() -> None:
    target, generator = (make_usage(cores, throttled_share=0.8) for cores in (0.5, 0.2))
    kind, reason = verdict(target_usage=target, generator_usage=generator)
    assert kind is VerdictKind.SHARED
    assert "CPU quota" in reason


def test_a_throttled_target_beside_a_full_generator_is_both() -> None:
    assert verdict(0.5, 0.99, target_usage=make_usage(0.5, throttled_share=0.8))[0] is VerdictKind.BOTH


def test_a_target_that_fills_its_cpu_limit_is_the_limit() -> None:
    used = make_usage(0.49)
    assert verdict(target_usage=used)[0] is VerdictKind.IDLE
    kind, reason = verdict(target_usage=used, target_cpus=0.5)
    assert kind is VerdictKind.TARGET
    assert reason == "the target used up its CPU quota (0.49 of 0.5 cores)"
    kind, reason = verdict(target_usage=make_usage(0.49, throttled_share=0.9), target_cpus=0.5)
    assert kind is VerdictKind.TARGET
    assert reason == "the target's CPU quota stopped it in 90% of the quota's periods"


def test_target_use_is_reported_relative_to_its_cpu_limit() -> None:
    kind, reason = verdict(target_usage=make_usage(0.2), target_cpus=0.5)
    assert kind is VerdictKind.IDLE
    assert "target 0.20 of 0.5 cores" in reason


def test_a_full_cpu_limit_beside_a_full_generator_is_both() -> None:
    kind, reason = verdict(0.5, 0.99, target_usage=make_usage(0.5, throttled_share=0.8), target_cpus=0.5)
    assert kind is VerdictKind.BOTH
    assert "target 0.50 of 0.5 cores" in reason


def test_a_cpu_limit_above_the_cores_changes_nothing() -> None:
    for used in (0.5, 0.95, 0.99):
        assert judge(make_evidence(used, target_cpus=4.0)) == judge(make_evidence(used))


def test_interrupts_do_not_count_toward_a_cpu_limit() -> None:
    kind, reason = verdict(target_usage=make_usage(0.3), occupancy=on_core(0.3, 0.25), target_cpus=0.5)
    assert kind is VerdictKind.IDLE
    assert "target 0.30 of 0.5 cores" in reason


def test_a_full_target_reports_its_quota() -> None:
    kind, reason = verdict(target_usage=make_usage(0.99, throttled_share=0.1))
    assert kind is VerdictKind.TARGET
    assert "CPU quota" in reason


def test_an_idle_target_reports_its_wait_for_a_core() -> None:
    kind, reason = verdict(target_usage=make_usage(0.4, cpu_wait_cores_mean=0.3, threads=8))
    assert kind is VerdictKind.IDLE
    assert "target 0.40 of 1 core, waiting for a core 0.30 of the time" in reason


@pytest.mark.parametrize(
    ("target", "changes"),
    [
        (0.99, {}),
        (0.4, {"load": Load(connections=64, rate_rps=400_000)}),
        (0.99, {"generator_usage": None}),
        (0.99, {"measurement": WRONG}),
    ],
)
def test_steal_is_always_reported(target: float, changes: dict[str, Any]) -> None:
    _, reason = verdict(target, occupancy=on_core(0.9, stolen=0.05), **changes)
    assert "steal: other virtual machines took 5% of core 0" in reason
    _, reason = verdict(target, occupancy=on_core(0.9, stolen=0.04), **changes)
    assert "steal" not in reason


# --- properties of all verdicts ------------------------------------------------------------------------------------------------

shares = st.floats(min_value=0, max_value=2)


@given(shares, shares, st.booleans(), st.integers(0, 100), st.integers(0, 100))
def test_every_verdict_except_target_has_a_reason(target: float, generator: float, shared: bool, wrong: int, lost: int) -> None:
    measurement = make_measurement(requests=Requests(completed=10_000, ok=10_000 - wrong), errors={"unexpected_body": wrong, "reset": lost})
    verdict = judge(make_evidence(target, generator, cores=SHARED if shared else APART, measurement=measurement))
    assert verdict.kind is not VerdictKind.FAILED
    assert verdict.reasons or verdict.kind is VerdictKind.TARGET
    assert (verdict.kind is VerdictKind.INVALID) == (wrong > 0 or lost > 10)


@given(shares, shares, shares)
def test_more_target_cpu_time_never_makes_the_generator_the_limit(low: float, high: float, generator: float) -> None:
    low, high = sorted((low, high))
    if kind_of(make_evidence(low, generator)) is VerdictKind.TARGET:
        assert kind_of(make_evidence(high, generator)) is VerdictKind.TARGET


# --- a proxy: between a backend and the generator ------------------------------------------------------------------------------

BESIDE = Cores(target=(2,), generator=(0,), harness=(0,), backend=(1,), shared=False)
BACKEND_SHARES = Cores(target=(1,), generator=(0,), harness=(0,), backend=(0,), shared=False)
RISING = Load(rate_from_rps=100, rate_rps=300, rate_step_rps=100, step_s=1, duration_s=3)


def test_a_busy_backend_is_the_limit_of_an_idle_proxy() -> None:
    assert kind_of(make_evidence(0.5, 0.5, cores=BESIDE, backend_usage=make_usage(0.95))) is VerdictKind.BACKEND
    assert kind_of(make_evidence(0.5, 0.5, cores=BESIDE, backend_usage=make_usage(0.5))) is VerdictKind.IDLE
    assert kind_of(make_evidence(0.95, 0.5, cores=BESIDE, backend_usage=make_usage(0.95))) is VerdictKind.TARGET


def test_a_backend_on_the_load_host_can_be_the_limit() -> None:
    there = make_load_host_use((0.5,), backend_cores=2)
    beside = BESIDE.model_copy(update={"generator": (), "backend": ()})

    def judged(backend: float) -> Verdict:
        return judge(make_evidence(0.5, 0.5, cores=beside, backend_usage=make_usage(backend), load_host=there))

    assert judged(1.85).kind is VerdictKind.BACKEND
    assert tuple(sentences(judged(1.85))) == ("backend-bound (backend 1.85 of 2 cores on load1)",)
    assert judged(0.95).kind is VerdictKind.IDLE


def test_a_full_backend_on_the_load_host_limits_the_baseline() -> None:
    there = make_load_host_use((0.5,), backend_cores=2)
    nothing_here = BESIDE.model_copy(update={"target": (), "generator": (), "backend": ()})
    assert kind_of(make_evidence(1.9, 0.5, cores=nothing_here, load_host=there)) is VerdictKind.TARGET
    assert kind_of(make_evidence(0.95, 0.5, cores=nothing_here, load_host=there)) is VerdictKind.IDLE


def test_a_full_core_shared_with_the_generator_makes_the_backend_the_limit() -> None:
    assert kind_of(make_evidence(0.5, 0.4, cores=BACKEND_SHARES, backend_usage=make_usage(0.58))) is VerdictKind.BACKEND
    assert kind_of(make_evidence(0.5, 0.58, cores=BACKEND_SHARES, backend_usage=make_usage(0.4))) is VerdictKind.BACKEND
    assert kind_of(make_evidence(0.5, 0.4, cores=BACKEND_SHARES, backend_usage=make_usage(0.4))) is VerdictKind.IDLE


def steps(*achieved: int) -> Evidence:
    made = tuple(
        Step(rate_rps=level.rate_rps, start_s=level.start_s, duration_s=1, completed=count, errors=0, response_time_us=make_distribution())
        for level, count in zip(RISING.levels, achieved, strict=False)
    )
    return make_evidence(load=RISING, measurement=make_measurement(throughput_rps=1, steps=made))


def test_a_rising_rate_counts_if_its_highest_step_was_reached() -> None:
    assert judge(steps(100, 200, 295)).counts
    verdict = judge(steps(100, 196, 290))
    assert verdict.kind is VerdictKind.INVALID and sentence(verdict.reasons[0]).startswith("held 200 of 300 requests/s")
    assert sentence(judge(steps(90, 200, 300)).reasons[0]).startswith("held none of 300 requests/s")
    assert sentence(judge(steps(100, 200)).reasons[0]).startswith("held 200 of 300 requests/s")


@pytest.mark.parametrize(("completed", "kind"), [(9_400, VerdictKind.IDLE), (9_000, VerdictKind.INVALID)])
def test_poisson_arrivals_are_counted(completed: int, kind: VerdictKind) -> None:
    """By chance, only 9,410 of 10,000 requests were due."""
    load = Load(rate_rps=1_000, arrivals=Arrivals.POISSON)
    requests = Requests(sent=9_410, completed=completed, ok=completed)
    measured = make_measurement(throughput_rps=completed / 10, duration_s=10, requests=requests)
    assert kind_of(make_evidence(0.5, 0.5, load=load, measurement=measured)) is kind


def test_an_overload_counts_although_its_rate_is_not_reached_and_requests_fail() -> None:
    load = Load(rate_rps=1_500, share_of_peak=1.5, peak_of="c/a", arrivals=Arrivals.POISSON)
    failing = {"errors": {"timeout": 500, "unexpected_status": 400}, "requests": Requests(sent=15_000, completed=9_400, ok=9_000)}
    measured = make_measurement(throughput_rps=900, duration_s=10, **failing)
    assert kind_of(make_evidence(0.99, 0.5, load=load, measurement=measured)) is VerdictKind.TARGET
    half = load.model_copy(update={"share_of_peak": 0.5})
    assert kind_of(make_evidence(0.99, 0.5, load=half, measurement=measured)) is VerdictKind.INVALID
    wrong = make_measurement(throughput_rps=900, duration_s=10, **{**failing, "errors": {"unexpected_body": 1}})
    assert kind_of(make_evidence(0.99, 0.5, load=load, measurement=wrong)) is VerdictKind.INVALID


def test_the_rate_held_is_the_last_before_the_first_miss() -> None:
    assert rate_held(steps(100, 190, 300).measurement.steps, Arrivals.CONSTANT) == 100
    assert rate_held(steps(90).measurement.steps, Arrivals.CONSTANT) is None


def test_a_polling_generator_is_not_busy() -> None:
    idle = make_evidence(0.3, 0.99, measurement=make_measurement(busy_cores=0.4))
    assert judge(idle).kind is VerdictKind.IDLE
    busy = make_evidence(0.3, 0.99, measurement=make_measurement(busy_cores=0.97))
    assert judge(busy).kind is VerdictKind.GENERATOR
    assert "0.97 of 1 core" in sentence(judge(busy).reasons[0])


# --- load from another host ------------------------------------------------------------------------------------------------------

ELSEWHERE = APART.model_copy(update={"generator": ()})


def from_load_host(target_cores: float, generator_cores: float, host_cores: int = 2, **changes: Any) -> Evidence:
    there = make_load_host_use([generator_cores / host_cores] * host_cores, **changes)
    return make_evidence(target_cores, generator_cores, cores=ELSEWHERE, load_host=there, load=LOAD.model_copy(update={"threads": None}))


def test_a_generator_that_fills_its_load_host_is_the_limit() -> None:
    verdict = judge(from_load_host(0.5, 1.97))
    assert verdict.kind is VerdictKind.GENERATOR
    assert "generator 1.97 of 2 cores on load1, target 0.50 of 1 core" in sentence(verdict.reasons[0])


def test_a_full_target_is_the_limit_under_remote_load() -> None:
    assert kind_of(from_load_host(0.99, 0.6)) is VerdictKind.TARGET


def test_losses_on_the_load_host_count() -> None:
    lost = Network(retransmission_timeouts=1000)
    assert kind_of(from_load_host(0.3, 0.3, network=lost)) is VerdictKind.NETWORK
    assert kind_of(from_load_host(0.3, 0.3, network=Network())) is VerdictKind.IDLE


# --- many load hosts ----------------------------------------------------------------------------------------------------------------


def on_load_hosts(*full: float, target_cores: float = 0.5) -> Evidence:
    """Return evidence with one load host per number in ``full``. Each number is the busy share of a host's fullest thread."""
    hosts = tuple(make_host_share(f"load{number}", busy=busy) for number, busy in enumerate(full, 1))
    return make_evidence(target_cores, 0.02, measurement=make_measurement(load_hosts=hosts))


def test_one_full_load_host_makes_the_generator_the_limit() -> None:
    verdict = judge(on_load_hosts(0.3, 0.97, 0.3))
    assert verdict.kind is VerdictKind.GENERATOR
    assert "generator 0.98 of a core in its fullest thread, on load host load2" in sentence(verdict.reasons[0])
    assert kind_of(on_load_hosts(0.3, 0.6, 0.3)) is VerdictKind.IDLE


def test_a_load_hosts_wait_for_a_cpu_counts_as_busy() -> None:
    waited = make_measurement(load_hosts=(make_host_share("load1", busy=0.5, waiting=0.5),))
    assert kind_of(make_evidence(0.5, 0.02, measurement=waited)) is VerdictKind.GENERATOR


def test_a_full_target_is_the_limit_whatever_the_load_hosts_do() -> None:
    assert kind_of(on_load_hosts(0.3, 0.3, target_cores=0.99)) is VerdictKind.TARGET


# --- a database behind a server -------------------------------------------------------------------------------------------------

WITH_DATABASE = Cores(target=(2,), generator=(0,), harness=(0,), database=(1,), shared=False)
DATABASE_SHARES = Cores(target=(1,), generator=(0,), harness=(0,), database=(0,), shared=False)


@pytest.mark.parametrize(("busy", "kind"), [(0.95, VerdictKind.DATABASE), (0.5, VerdictKind.IDLE)])
def test_a_busy_database_is_the_limit_of_an_idle_target(busy: float, kind: VerdictKind) -> None:
    assert kind_of(make_evidence(0.5, 0.5, cores=WITH_DATABASE, database_usage=make_usage(busy))) is kind


def test_a_busy_target_is_the_limit_whatever_its_database_does() -> None:
    assert kind_of(make_evidence(0.95, 0.5, cores=WITH_DATABASE, database_usage=make_usage(0.95))) is VerdictKind.TARGET


def test_a_busy_generator_beside_a_database_is_the_limit() -> None:
    assert kind_of(make_evidence(0.5, 0.97, cores=WITH_DATABASE, database_usage=make_usage(0.5))) is VerdictKind.GENERATOR


def test_generator_and_database_can_fill_their_shared_core() -> None:
    verdict = judge(make_evidence(0.5, 0.3, cores=DATABASE_SHARES, database_usage=make_usage(0.67)))
    said = "generator and database filled the cores that they share (generator 0.30 and database 0.67 of 1 shared core)"
    assert (verdict.kind, sentence(verdict.reasons[0])) == (VerdictKind.DATABASE, said)


def test_a_generator_kept_waiting_by_the_database_is_not_the_limit() -> None:
    generator = make_usage(0.3).model_copy(update={"cpu_wait_cores_mean": 0.5})
    evidence = make_evidence(0.5, cores=DATABASE_SHARES, generator_usage=generator, database_usage=make_usage(0.67))
    assert kind_of(evidence) is VerdictKind.DATABASE


def test_a_generator_kept_waiting_by_the_backend_is_not_the_limit() -> None:
    generator = make_usage(0.52).model_copy(update={"cpu_wait_cores_mean": 0.46})
    evidence = make_evidence(0.6, cores=BACKEND_SHARES, generator_usage=generator, backend_usage=make_usage(0.47))
    assert kind_of(evidence) is VerdictKind.BACKEND


@pytest.mark.parametrize(("database", "kind"), [(0.5, VerdictKind.SHARED), (0.2, VerdictKind.IDLE)])
def test_three_programs_together_can_fill_shared_cores(database: float, kind: VerdictKind) -> None:
    """The target and the generator seem to leave CPU time idle, but the database may use it."""
    cores = Cores(target=(0, 1), generator=(0, 1), harness=(0,), database=(0, 1), shared=True)
    verdict = judge(make_evidence(1.2, 0.3, cores=cores, database_usage=make_usage(database)))
    assert verdict.kind is kind
    assert f"generator 0.30, target 1.20 and database {database:.2f} of 2 shared cores" in sentence(verdict.reasons[0])


def test_a_database_stopped_by_its_quota_is_the_limit() -> None:
    throttled = make_usage(0.2).model_copy(update={"throttled_share": 0.4})
    verdict = judge(make_evidence(0.5, 0.5, cores=WITH_DATABASE, database_usage=throttled))
    assert verdict.kind is VerdictKind.DATABASE
    assert sentence(verdict.reasons[0]) == "database-bound (a CPU quota stopped the database in 40% of its periods)"


def test_a_database_does_not_disturb_on_its_own_cores() -> None:
    occupancy = tuple(CoreOccupancy(cpu=cpu, busy=0.9, interrupts=0.0, stolen=0.0) for cpu in (0, 1, 2))
    evidence = make_evidence(0.9, 0.9, cores=WITH_DATABASE, occupancy=occupancy, database_usage=make_usage(0.9))
    assert kind_of(evidence) is not VerdictKind.DISTURBED
