"""Tests of each rule of the audit: figures that it must find, and figures that it almost finds."""

from __future__ import annotations

import math

import pytest

from httpbench.analysis.audit import audit
from httpbench.analysis.audit_rules import AuditRule
from httpbench.catalog import load
from httpbench.catalog.workload_names import find
from httpbench.model import Events, Load, Trial, Verdict, VerdictKind
from tests.audited import published_run, published_table, published_trial
from tests.factories import make_client, make_distribution, make_plan, make_rounds, make_run, make_trial

MIX = find(load().workloads, "web-frameworks-index:1,web-frameworks-user:1,web-frameworks-create:1")
PIPELINED = Load(connections=64, pipeline=16, duration_s=15)
OPEN = Load(connections=64, duration_s=15, rate_rps=1000)
CLOSING = Load(connections=64, duration_s=15, keepalive=False)


def rules(*trials: Trial, project: str = "techempower") -> set[AuditRule]:
    return set(audit(published_run(list(trials), project), trials).rules)


def averages(*trials: Trial) -> set[AuditRule]:
    moved = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"workload": MIX.name})}) for trial in trials]
    run = published_run(moved).model_copy(update={"workloads": {MIX.name: MIX}})
    return set(audit(run, moved).rules)


# --- requests in flight -----------------------------------------------------------------------------------------------------------


def test_correct_figures_break_no_rule() -> None:
    assert not rules(published_trial(), published_trial(10, "go/slow"), published_trial(1e6, "rust/fast", load=PIPELINED))


@pytest.mark.parametrize(("mean_us", "found"), [(1100, True), (1030, False)])
def test_more_requests_in_flight_than_connections(mean_us: float, found: bool) -> None:
    trial = published_trial(64_000, times={"mean": mean_us})
    assert (AuditRule.TOO_MANY_IN_FLIGHT in rules(trial)) is found
    if found:
        (finding,) = audit(published_run([trial]), [trial]).findings
        assert finding.is_impossible and finding.rows[0].figures == {
            "throughput_rps": 64_000,
            "latency_us_mean": 1100,
            "in_flight": pytest.approx(70.4),
            "in_flight_max": 64,
        }


def test_percentiles_bound_a_missing_mean() -> None:
    """At least half of the requests took as long as the p50, a quarter as long as the p75, and so on."""
    unknown: dict[str, float | None] = {"mean": None, "max": None, "min": None}
    assert AuditRule.TOO_MANY_IN_FLIGHT in rules(
        published_trial(64_000, times={**unknown, "p50": 2200, "p75": 2200, "p90": 2200, "p99": 2300})
    )
    assert not rules(published_trial(64_000, times={**unknown, "p50": 1900, "p75": 1900, "p90": 1900, "p99": None}))


def test_a_long_request_at_the_edge_allows_for_more() -> None:
    assert not rules(published_trial(64_000, times={"mean": 1200, "max": 3_000_000}))


def test_requests_in_flight_are_unknown_in_an_open_loop_and_with_an_unknown_number_of_streams() -> None:
    assert not rules(published_trial(64_000, load=OPEN, times={"mean": 9000}))
    assert not rules(published_trial(64_000, generator="h2load", times={"mean": 9000}))


@pytest.mark.parametrize(("mean_us", "found"), [(700, True), (860, False)])
def test_fewer_requests_in_flight_than_connections(mean_us: float, found: bool) -> None:
    assert (AuditRule.TOO_FEW_IN_FLIGHT in rules(published_trial(64_000, times={"mean": mean_us}))) is found


def test_without_a_mean_the_p99_shows_that_connections_were_idle() -> None:
    unknown: dict[str, float | None] = {"mean": None, "max": None, "p50": 300, "p75": 400, "p90": 500}
    assert AuditRule.TOO_FEW_IN_FLIGHT in rules(published_trial(64_000, times={**unknown, "p99": 700}))
    assert not rules(published_trial(64_000, times={**unknown, "p99": 1200}))


def test_connections_that_are_reopened_wait_for_no_response() -> None:
    few = {"mean": 300.0}
    assert not rules(published_trial(64_000, load=CLOSING, times=few))
    assert not rules(published_trial(64_000, times=few, connections_opened=70))
    assert AuditRule.TOO_FEW_IN_FLIGHT in rules(published_trial(64_000, times=few, connections_opened=64))


def test_too_few_requests_for_a_law_of_averages() -> None:
    assert not rules(published_trial(400, times={"mean": 60_000.0}))


@pytest.mark.parametrize(("mean_us", "found"), [(1800, True), (1400, False)])
def test_wrk_adds_latencies(mean_us: float, found: bool) -> None:
    assert rules(published_trial(64_000, generator="wrk", times={"mean": mean_us})) == ({AuditRule.BACK_FILLED} if found else set())


def test_wrk_lowers_the_mean_of_pipelined_requests() -> None:
    """It records one latency for each batch, and fills up with shorter ones."""
    assert not rules(published_trial(64_000, generator="wrk", load=PIPELINED, times={"mean": 8500.0}))


@pytest.mark.parametrize(("mean_us", "found"), [(3400, True), (3000, False)])
def test_averages_of_unlike_loads(mean_us: float, found: bool) -> None:
    """Averages of loads that differ tenfold can have three times as many requests in flight as connections."""
    assert averages(published_trial(64_000, times={"mean": mean_us})) == ({AuditRule.UNLIKE_AVERAGED} if found else set())


# --- latencies --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "found"),
    [
        ({"p90": 4000}, True),
        ({"p90": 3025}, False),  # rounding
        ({"p99": 30_000}, True),  # above the maximum
        ({"min": -3e18}, True),
        ({"min": 950}, True),  # above the median
        ({"p75": None, "p90": None}, False),
        ({"max": 3000}, False),
    ],
)
def test_percentiles_rise(times: dict[str, float | None], found: bool) -> None:
    assert rules(published_trial(64_000, times=times)) == ({AuditRule.PERCENTILES_FALL} if found else set())


def test_the_mean_lies_between_minimum_and_maximum() -> None:
    assert rules(published_trial(64_000, times={"min": None, "p50": 100, "p75": 200, "p90": 300, "p99": 400, "max": 900})) == {
        AuditRule.PERCENTILES_FALL
    }


@pytest.mark.parametrize(("rule", "other"), [(AuditRule.P99_IS_MEAN, "mean"), (AuditRule.P99_IS_MAX, "max")])
def test_a_p99_that_equals_another_figure_in_half_of_the_rows(rule: AuditRule, other: str) -> None:
    figures = {"p50": 800, "mean": 1000, "p99": 1000 if other == "mean" else 1200, "max": 1200}

    def table(equal: int) -> list[Trial]:
        same = published_table([64_000] * equal, times={**figures, "min": None, "p75": None, "p90": None})
        return [*same, *(published_trial(1000 * 2**place, f"python/other-{place}") for place in range(4))]

    assert rules(*table(4)) == {rule}
    assert not rules(*table(3))
    assert not rules(*table(2)[:2])


def with_times(trial: Trial, **times: float) -> Trial:
    measurement = trial.measurement
    assert measurement is not None and measurement.service_time_us is not None
    changed = measurement.service_time_us.model_copy(update=times)
    return trial.model_copy(update={"measurement": measurement.model_copy(update={"service_time_us": changed})})


def test_coarse_times_can_be_equal() -> None:
    """A load generator that rounds to milliseconds often reports the same time several times."""
    times: dict[str, float | None] = {"p50": 1000, "p75": 1000, "p90": 1000, "p99": 1000, "max": 1000, "mean": 1000, "resolution_us": 1000}
    assert not rules(*published_table([64_000.0] * 5, times={**times, "min": None}))


# --- counts -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("responses", "found"), [(3, True), (1.12, True), (1.08, False), (0.8, True), (0.95, False)])
def test_throughput_is_responses_by_duration(responses: float, found: bool) -> None:
    trial = published_trial(64_000, completed=round(64_000 * 15 * responses))
    assert rules(trial) == ({AuditRule.COUNTS_DISAGREE} if found else set())


def test_events_are_not_compared_with_responses() -> None:
    trial = published_trial(64_000, completed=100)
    assert trial.measurement is not None
    times = make_distribution()
    events = Events(
        count=960_000, streams=100, numbered_streams=0, lost=None, first_us=times, between_us=times, first_censored=0, between_censored=0
    )
    assert AuditRule.COUNTS_DISAGREE in rules(trial)
    assert not rules(trial.model_copy(update={"measurement": trial.measurement.model_copy(update={"events": events})}))


def test_failed_responses_are_no_throughput() -> None:
    """A row counts failed responses if its throughput is that of all responses."""
    all_of = 64_000 * 15
    assert rules(published_trial(64_000, ok=all_of // 2, errors={"unexpected_status": all_of // 2})) == {AuditRule.ERRORS_COUNTED}
    correct = published_trial(64_000, completed=2 * all_of, ok=all_of, errors={"unexpected_status": all_of})
    assert rules(correct) == {AuditRule.MANY_FAILED}
    assert not rules(published_trial(64_000, ok=all_of - 9000, errors={"unexpected_status": 9000}))


def test_failed_requests_without_a_response() -> None:
    assert rules(published_trial(64_000, errors={"timeout": 20_000})) == {AuditRule.MANY_FAILED}
    assert not rules(published_trial(64_000, errors={"timeout": 9_000}))


def test_unknown_numbers_of_errors() -> None:
    (finding,) = audit(published_run(found := published_table([1e4, 2e4], counts_errors=False)), found).findings
    assert (finding.rule, len(finding.rows), finding.examined, finding.is_impossible) == (AuditRule.ERRORS_UNKNOWN, 2, 2, False)


# --- tables -----------------------------------------------------------------------------------------------------------------------


def spread(count: int, most: float = 90_000) -> list[float]:
    """Return throughputs that fall by 4% from one target to the next."""
    return [most / 1.04**place for place in range(count)]


def limited(count: int) -> list[float]:
    return [97_000 - 20.0 * place for place in range(count)]


def test_rows_at_a_common_limit() -> None:
    trials = published_table([*limited(30), *spread(50)])
    (finding,) = audit(published_run(trials), trials).findings
    assert (finding.rule, len(finding.rows), finding.examined) == (AuditRule.CLUSTERED, 30, 80)
    assert finding.data == {"throughput_rps_min": pytest.approx(96_420), "throughput_rps_max": 97_000}


def test_the_cluster_of_a_published_run_with_174_of_380_rows() -> None:
    """The shape of a run of web-frameworks in September 2026: 174 rows between 96,000 and 97,400 requests/s."""
    rates = [96_000 + 1_400 * place / 173 for place in range(174)]
    trials = published_table([*rates, *(95_000 * math.exp(-place / 40) for place in range(206))])
    (finding,) = audit(published_run(trials), trials).findings
    assert (finding.rule, len(finding.rows), finding.examined) == (AuditRule.CLUSTERED, 174, 380)


def test_few_rows_can_be_faster_than_a_cluster() -> None:
    assert rules(*published_table([150_000, *limited(30), *spread(50)])) == {AuditRule.CLUSTERED}
    assert not rules(*published_table([200_000, 170_000, 150_000, 130_000, *limited(20), *spread(50)]))


def test_other_near_rows_are_no_cluster() -> None:
    assert not rules(*published_table([*limited(7), *spread(50)]))
    assert not rules(*published_table([97_000 - 100.0 * place for place in range(80)]))
    assert not rules(*(published_trial(rps, f"c/variant-{index}") for index, rps in enumerate([*limited(30), *spread(50)])))


def test_extreme_results_are_no_cluster() -> None:
    """Published results can contain any number."""
    assert not rules(*published_table([1e300, *spread(50), 1e-9]))


def test_a_verdict_already_explains_rows_that_the_load_generator_limited() -> None:
    limit = Verdict(kind=VerdictKind.GENERATOR)
    assert not rules(*(trial.model_copy(update={"verdict": limit}) for trial in published_table([*limited(30), *spread(50)])))


def test_rows_that_differ_less_than_repeated_measurements() -> None:
    rates = spread(40)
    again = [rps * (1.06 if place % 2 else 0.94) for place, rps in enumerate(rates)]
    best = [90_000, 89_000, 88_000, 87_000, 86_000, *spread(30, 70_000)]
    trials = [
        *published_table(rates, workload="db"),
        *published_table(again, workload="query-1"),
        *published_table(best, workload="json"),
        *published_table(best[:4], workload="fortune"),
    ]
    found = {finding.workload: finding for finding in audit(published_run(trials), trials).rules[AuditRule.NOT_TOLD_APART]}
    assert set(found) == {"json"} and len(found["json"].rows) == 5
    assert found["json"].data == {"repeated_difference": pytest.approx(1 / 0.94 - 1, rel=0.1), "repeats": 40}
    few = [trial for trial in trials if trial.plan.workload not in ("db", "query-1")]
    assert not rules(*few)


# --- the audit as a whole ---------------------------------------------------------------------------------------------------------


def test_trials_that_do_not_count_are_left_out() -> None:
    wrong = published_trial(64_000, times={"mean": 9000, "max": 9900})
    lost = wrong.model_copy(update={"verdict": Verdict(kind=VerdictKind.INVALID)})
    found = audit(published_run([lost]), [lost])
    assert (found.findings, found.rows, found.tables) == ((), 0, 0)


def test_a_row_is_counted_once_in_several_rounds() -> None:
    trials = make_rounds("c/epoll/level", [400_000, 500_000, 410_000])
    worse = [with_times(trials[0], mean=1500.0), with_times(trials[1], mean=2000.0), trials[2]]
    (finding,) = audit(make_run(worse), worse).findings
    assert finding.rule is AuditRule.TOO_MANY_IN_FLIGHT and len(finding.rows) == finding.examined == 1


def test_clients_and_our_own_correct_rows_break_no_rule() -> None:
    client = make_trial(make_plan("client:c/curl"), measurement=None, client=make_client(0.2), response=None)
    trials = [*make_rounds("c/epoll/level", [400_000, 410_000]), *make_rounds("c/nginx", [100_000, 101_000])]
    assert not audit(make_run(trials), [client, *trials]).findings


def test_findings_are_sorted_and_the_best_of_several_measurements_is_known() -> None:
    trials = [
        published_trial(64_000, workload="json", errors={"timeout": 20_000}),
        published_trial(64_000, "c/one", workload="db", times={"mean": 2000.0, "max": 3000}),
        published_trial(64_000, "c/two", workload="json", times={"mean": 2000.0, "max": 3000}),
        published_trial(64_000, "c/three", workload="json", times={"mean": 2500.0, "max": 3000}),
    ]
    found = audit(published_run(trials, "httparena"), trials)
    assert [(finding.rule, finding.workload) for finding in found.findings] == [
        (AuditRule.TOO_MANY_IN_FLIGHT, "json"),
        (AuditRule.TOO_MANY_IN_FLIGHT, "db"),
        (AuditRule.MANY_FAILED, "json"),
    ]
    assert [row.target for row in found.findings[0].rows] == ["c/three", "c/two"]
    assert found.best_of == "scripts/benchmark.sh" and audit(published_run(trials), trials).best_of is None
