"""Tests of summaries over rounds, in which medians include only the valid rounds."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.model import ENDINGS, CoreOccupancy, Cores, Distribution, Reason, ReasonKind, Requests, Trial, Verdict, VerdictKind
from httpbench.report.words.reasons import sentence, sentences
from httpbench.stats.summary import Estimate, cells, cpu_us_per_request, overall, summarize, with_merged
from tests.factories import make_distribution, make_failed, make_histogram, make_measurement, make_plan, make_rounds, make_trial, make_usage

INVALID = Verdict(kind=VerdictKind.INVALID, reasons=("3 responses were wrong",))
GENERATOR = Verdict(kind=VerdictKind.GENERATOR, reasons=("generator-bound",))
IDLE = Verdict(kind=VerdictKind.IDLE, reasons=("nobody was busy",))

figures = st.floats(min_value=1e-3, max_value=1e9)


@given(st.lists(figures, min_size=1, max_size=30))
def test_an_estimate_is_the_median_within_the_range(values: list[float]) -> None:
    estimate = Estimate.of(values)
    assert estimate is not None
    assert estimate.median == statistics.median(values)
    assert (estimate.min, estimate.max, estimate.rounds) == (min(values), max(values), len(values))
    if len(values) > 1:
        assert estimate.spread is not None
        assert estimate.spread >= 0


@given(st.lists(figures, min_size=1, max_size=9))
def test_the_order_of_rounds_does_not_matter(values: list[float]) -> None:
    assert Estimate.of(sorted(values)) == Estimate.of(values)


@given(st.lists(st.floats(1, 1e6), min_size=3, max_size=20))
def test_the_margin_around_the_median_covers_the_interval(values: list[float]) -> None:
    estimate = Estimate.of(values)
    assert estimate is not None and estimate.margin is not None and estimate.interval is not None
    assert estimate.median * (1 + estimate.margin) >= estimate.interval.high * (1 - 1e-9)
    assert estimate.median / (1 + estimate.margin) <= estimate.interval.low * (1 + 1e-9)
    assert estimate.margin >= estimate.interval.half_width * (1 - 1e-9)


def test_spread_is_half_the_range_over_the_median() -> None:
    estimate = Estimate.of([90, 100, 120])
    assert estimate is not None
    assert estimate.spread == pytest.approx(0.15)


def test_one_round_has_no_spread() -> None:
    estimate = Estimate.of([100])
    assert estimate is not None
    assert estimate.spread is None


def test_a_median_of_zero_has_no_relative_spread() -> None:
    estimate = Estimate.of([0, 0, 1])
    assert estimate is not None
    assert estimate.spread is None


def test_missing_values_are_left_out_and_counted() -> None:
    estimate = Estimate.of([None, 3, None])
    assert estimate is not None
    assert (estimate.median, estimate.rounds) == (3, 1)
    assert Estimate.of([None, None]) is None


def test_rounds_that_do_not_count_are_excluded() -> None:
    rounds = make_rounds("c/nginx", (100_000, 900_000, 102_000))
    rounds[1] = rounds[1].model_copy(update={"verdict": INVALID})
    summary = summarize([*rounds, make_failed(make_plan("c/nginx", round_=3))])
    assert (summary.rounds, summary.rounds_counting) == (4, 2)
    assert summary.throughput_rps is not None
    assert summary.throughput_rps.max == 102_000
    assert "2 of 4 rounds not valid" in sentence(summary.verdict.reasons[0])
    assert "3 responses were wrong" in sentence(summary.verdict.reasons[0])
    assert "did not respond within 10 s" in sentence(summary.verdict.reasons[0])


def test_a_cell_without_valid_rounds_has_no_results() -> None:
    summary = summarize(make_rounds("c/nginx", (1, 2), verdict=INVALID))
    assert summary.rounds_counting == 0
    figures = summary.model_dump(
        exclude={"target", "scaling", "workload", "load_generator", "load", "rounds", "rounds_counting", "verdict"}
    )
    assert set(figures.values()) == {None}
    assert summary.verdict.kind is VerdictKind.INVALID
    assert tuple(sentences(summary.verdict)) == ("3 responses were wrong, in 2 rounds",)


def test_percentiles_are_medians_with_merged_values_beside_them() -> None:
    slow, fast = [2_000_000] * 100, [1_000_000] * 1000
    rounds = [
        make_trial(
            make_plan(round_=index),
            measurement=make_measurement(
                service_time_us=Distribution(count=len(times), p50=times[0] / 1000, histogram=make_histogram(times)),
            ),
        )
        for index, times in enumerate((fast, slow, slow))
    ]
    summary = summarize(rounds)
    assert summary.service_time_us is not None and summary.service_time_us.merged is None
    latency = with_merged(summary, rounds).service_time_us
    assert latency is not None
    assert latency.p50 is not None
    assert latency.p50.median == 2000
    assert latency.merged is not None
    assert latency.merged.count == 1200
    assert latency.merged.p50 == pytest.approx(1000, rel=1e-3)
    assert latency.p99 is None


def test_a_percentile_missing_in_one_round_is_blank() -> None:
    slow = make_distribution(500, count=90, p90=None, p95=None, p99=None, p99_9=None, p99_99=None, tm99_9=None)
    measured = [make_measurement(service_time_us=distribution) for distribution in (slow, slow, make_distribution(100))]
    found = summarize([make_trial(make_plan("c/a", round_=index), measurement=each) for index, each in enumerate(measured)])
    assert found.service_time_us is not None
    assert found.service_time_us.p75 is not None
    assert found.service_time_us.p75.rounds == 3
    assert found.service_time_us.p90 is None


def test_costs_describe_the_target() -> None:
    trial = make_trial(
        measurement=make_measurement(100_000, requests=Requests(completed=1_000_000, ok=1_000_000), bytes_received=2_000_000),
        target_usage=make_usage(0.5, cpu_s=5.0),
    )
    summary = summarize([trial])
    assert summary.cpu_us_per_request is not None
    assert summary.cpu_us_per_request.median == 5
    assert summary.bytes_per_s is not None
    assert summary.bytes_per_s.median == 200_000
    assert summary.cpu_cores is not None
    assert summary.cpu_cores.median == 0.5


def test_no_requests_have_no_cost_per_request() -> None:
    assert cpu_us_per_request(make_trial(measurement=make_measurement(requests=Requests(completed=0, ok=0)))) is None
    assert cpu_us_per_request(make_trial(target_usage=None)) is None


def test_a_generator_that_does_not_count_bytes_leaves_them_blank() -> None:
    assert summarize([make_trial(measurement=make_measurement(bytes_received=None))]).bytes_per_s is None


def _of(*verdicts: Verdict) -> list[Trial]:
    return [make_trial(make_plan(round_=index), verdict) for index, verdict in enumerate(verdicts)]


TARGET = Verdict(kind=VerdictKind.TARGET)


def test_one_generator_limited_round_decides_the_row() -> None:
    verdict = overall(_of(TARGET, TARGET, GENERATOR))
    assert verdict.kind is VerdictKind.GENERATOR
    assert sentence(verdict.reasons[0]) == "rounds differ: 2 target, 1 generator"
    assert "generator-bound" in sentences(verdict)


def test_generator_takes_precedence_over_both_in_a_row() -> None:
    both = Verdict(kind=VerdictKind.BOTH, reasons=("both nearly full",))
    assert overall(_of(TARGET, TARGET, both)).kind is VerdictKind.BOTH
    assert overall(_of(TARGET, GENERATOR, both)).kind is VerdictKind.GENERATOR


def test_steal_in_any_round_is_reported_once_per_row() -> None:
    def stolen(share: float) -> Trial:
        """Return a trial with steal on one of four cores, too little to disturb it."""
        occupancy = tuple(CoreOccupancy(cpu=cpu, busy=0.2, stolen=share if cpu == 0 else 0) for cpu in range(4))
        plan = make_plan(cores=Cores(target=(0, 1, 2, 3), generator=(4,), harness=(5,), shared=False))
        said = (Reason.of(ReasonKind.STEAL, cores=[{"cpu": 0, "share": share}]),) if share >= 0.05 else ()
        return make_trial(plan, Verdict(kind=VerdictKind.TARGET, reasons=said), occupancy=occupancy)

    assert tuple(sentences(overall([stolen(0.0), stolen(0.06), stolen(0.2)]))) == (
        "steal: other virtual machines took 20% of core 0 (worst of 2 in 3 rounds)",
    )
    assert overall([stolen(0.0), stolen(0.04)]).reasons == ()


def test_otherwise_the_most_common_verdict_decides() -> None:
    assert overall(_of(IDLE, TARGET, TARGET)).kind is VerdictKind.TARGET
    assert overall(_of(IDLE, TARGET, IDLE)).kind is VerdictKind.IDLE


def test_unanimous_rounds_have_no_reasons() -> None:
    assert overall(_of(TARGET, TARGET)) == TARGET


def test_invalid_takes_precedence_over_failed() -> None:
    failed = make_failed(make_plan(round_=1))
    assert overall([*_of(INVALID), failed]).kind is VerdictKind.INVALID
    assert overall([failed]).kind is VerdictKind.FAILED


def test_cells_sort_their_rounds() -> None:
    shuffled = [make_trial(make_plan(target, round_=index)) for index in (2, 0, 1) for target in ("b/b", "a/a")]
    found = cells(shuffled)
    assert [cell[0].plan.target for cell in found] == ["b/b", "a/a"]
    assert [[trial.plan.round for trial in cell] for cell in found] == [[0, 1, 2]] * 2


@pytest.mark.parametrize("trials", [[], [make_trial(make_plan("a/a")), make_trial(make_plan("b/b"))]])
def test_a_summary_requires_a_single_cell(trials: list[Trial]) -> None:
    with pytest.raises(ValueError, match="exactly one cell"):
        summarize(trials)


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_a_bad_end_is_reported_beside_the_limit(ending: ReasonKind) -> None:
    bound, disturbed, ended = (Reason.of(kind, name="x") for kind in (ReasonKind.GENERATOR_BOUND, ReasonKind.STOLEN, ending))
    reasons = (bound, disturbed, ended)
    trials = [make_trial(make_plan(round_=number), Verdict(kind=VerdictKind.GENERATOR, reasons=reasons)) for number in range(3)]
    assert overall(trials).reasons == (bound, ended)


def test_steal_that_an_earlier_version_stored_as_text_is_noted_once() -> None:
    occupancy = tuple(CoreOccupancy(cpu=cpu, busy=0.2, stolen=0.06 if cpu == 0 else 0) for cpu in range(4))
    plan = make_plan(cores=Cores(target=(0, 1, 2, 3), generator=(4,), harness=(5,), shared=False))
    verdict = Verdict.model_validate({"kind": "target", "reasons": ["steal: other virtual machines took 6% of core 0"]})
    rounds = [make_trial(plan, verdict, occupancy=occupancy)] * 2
    assert [reason.kind for reason in overall(rounds).reasons] == [ReasonKind.WORST_ROUND]
