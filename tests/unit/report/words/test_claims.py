"""Tests of claims below a table: when httpbench makes one, and the reason it gives if it makes none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from httpbench.analysis.compared import differences, ranking
from httpbench.analysis.groups import groups
from httpbench.model import Kind, Load, Noise, Precision, Run, RunStatus, Stalls, Table, Trial, Verdict, VerdictKind
from httpbench.report.words.claims import answer, claims, times
from httpbench.report.words.numbers import plus_minus
from httpbench.report.words.run import origin, precision
from httpbench.run.proxy.trial import BASELINE
from httpbench.stats.paired import Comparison, compare
from tests.factories import make_distribution, make_failed, make_measurement, make_plan, make_rounds, make_run, make_target, make_trial

GENERATOR = Verdict(kind=VerdictKind.GENERATOR, reasons=("generator-bound",))
BOTH = Verdict(kind=VerdictKind.BOTH, reasons=("both nearly full",))
OLD, NEW = "command/old", "command/new"

STEADY = (100_000, 101_000, 100_500, 99_800, 100_200)
SAME = (100_300, 100_600, 100_900, 99_500, 100_400)
FASTER = tuple(rate * factor for rate, factor in zip(STEADY, (1.12, 1.14, 1.13, 1.125, 1.135), strict=True))


def run_of(trials: list[Trial], **changes: Any) -> Run:
    targets = {name: make_target(name, category=None, framework=name.partition("/")[2], language="command") for name in (OLD, NEW)}
    return make_run(trials, targets, **{"baseline": OLD, **changes})


def said(trials: list[Trial], **changes: Any) -> list[str]:
    run = run_of(trials, **changes)
    return [line for group in groups(run, trials) for line in claims(run, group)]


def comparison(ours: tuple[float, ...], theirs: tuple[float, ...]) -> Comparison:
    found = compare(dict(enumerate(ours)), dict(enumerate(theirs)))
    assert found is not None
    return found


def test_a_difference_is_a_ratio_with_its_interval_and_names_the_baseline_last() -> None:
    (line,) = said([*make_rounds(OLD, STEADY), *make_rounds(NEW, FASTER)])
    assert line == "new serves 1.130 ± 0.010 times the requests of old; p99 is 0.885 ± 0.009 times"


def test_without_a_difference_the_claim_states_the_interval() -> None:
    (line,) = said([*make_rounds(OLD, STEADY), *make_rounds(NEW, SAME)])
    assert line == "new is not distinguishable from old: 0.9959 to 1.0049 times; p99 is not distinguishable: 0.9941 to 1.0051 times"


def test_too_few_rounds_say_how_many_a_claim_requires() -> None:
    lines = said([*make_rounds(OLD, STEADY[:2]), *make_rounds(NEW, FASTER[:2])])
    assert lines == ["new is not compared with old: 2 common rounds are too few; use 3 or more"]


def test_a_row_without_results_is_not_compared() -> None:
    lines = said([*make_rounds(OLD, STEADY), *(make_failed(make_plan(NEW, round_=number)) for number in range(5))])
    assert lines == ["new is not compared with old: new has no valid round"]


def test_a_row_that_lost_rounds_is_not_compared() -> None:
    wrong = Verdict(kind=VerdictKind.INVALID, reasons=("7 responses were wrong",))
    trials = [*make_rounds(OLD, STEADY[:4]), *make_rounds(NEW, FASTER[:4])]
    trials[0] = trials[0].model_copy(update={"verdict": wrong})
    trials[7] = trials[7].model_copy(update={"verdict": wrong})
    assert said(trials) == ["new is not compared with old: new lost rounds (1 of 4 rounds failed or are invalid: 7 responses were wrong)"]


def test_a_row_that_lost_rounds_to_disturbances_is_not_compared_unless_all_targets_lost_them() -> None:
    disturbed = Verdict(kind=VerdictKind.DISTURBED, reasons=("spin took 40%",))
    slow = [rate / 2 for rate in STEADY]
    trials = [*make_rounds(OLD, STEADY * 2), *make_rounds(NEW, FASTER * 2)]
    trials[10:15] = make_rounds(NEW, slow, verdict=disturbed)
    assert said(trials) == ["new is not compared with old: new lost rounds (5 of 10 rounds disturbed: by other programs)"]
    in_slices = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"slices": 8})}) for trial in trials]
    assert said(in_slices)[0].startswith("new serves 1.130 ± ")


def test_disturbed_rounds_that_the_user_accepted_are_compared() -> None:
    accepted = Verdict(kind=VerdictKind.DISTURBED, reasons=("spin took 40%",), is_accepted=True)
    trials = [*make_rounds(OLD, STEADY * 2), *make_rounds(NEW, FASTER[:3], verdict=accepted), *make_rounds(NEW, FASTER * 2)[3:]]
    assert said(trials)[0].startswith("new serves 1.130 ± ")


def test_whole_milliseconds_do_not_prove_a_ratio() -> None:
    def rounds(name: str, p99_us: float, step_us: float | None) -> list[Trial]:
        times = make_distribution(p99=p99_us)
        return [
            make_trial(make_plan(name, n), measurement=make_measurement(rps, service_time_us=times, latency_step_us=step_us))
            for n, rps in enumerate(STEADY)
        ]

    (line,) = said([*rounds(OLD, 2000, None), *rounds(NEW, 1000, None)])
    assert line.endswith("p99 is 0.5000 ± 0.0005 times")
    (line,) = said([*rounds(OLD, 2000, 1000), *rounds(NEW, 1000, 1000)])
    assert line.endswith("p99 is not distinguishable: 0.25 to 1 times")


def test_a_generator_bound_row_is_labeled() -> None:
    (line,) = said([*make_rounds(OLD, STEADY), *make_rounds(NEW, FASTER, verdict=GENERATOR)])
    assert line.endswith("; new is generator-bound")


def test_with_a_rate_latency_and_cpu_time_are_compared() -> None:
    load = Load(rate_rps=1000)

    def rounds(name: str, p99s: tuple[float, ...]) -> list[Trial]:
        return [
            make_trial(
                make_plan(name, round_=number, load=load),
                measurement=make_measurement(1000, response_time_us=make_distribution(p99 / 2.5, 10_000)),
            )
            for number, p99 in enumerate(p99s)
        ]

    (line,) = said([*rounds(OLD, (900, 910, 905)), *rounds(NEW, (450, 452, 456))])
    assert line.startswith(
        "the p99 of new is 0.500 ± 0.009 times that of old; CPU time per request is not distinguishable: 1.00 to 1.00 times"
    )
    (line,) = said([*rounds(OLD, (900, 910, 905)), *rounds(NEW, (902, 909, 905))])
    assert line.startswith("new is not distinguishable from old by p99: 0.9")
    (line,) = said([*rounds(OLD, (900, 910, 905)), *rounds(NEW, (300, 905, 2700))])
    assert line.startswith("new is not distinguishable from old by p99: 0.06")


def test_two_rows_without_a_baseline_are_compared() -> None:
    trials = [*make_rounds("c/one", STEADY), *make_rounds("c/two", FASTER)]
    run = make_run(trials)
    (group,) = groups(run, trials)
    (line,) = claims(run, group)
    assert line.startswith("c/two serves 1.130 ± 0.010 times the requests of c/one")


def test_an_undecided_lowest_p99_is_not_given_to_the_first_row() -> None:
    load = Load(rate_rps=1000)
    p99s = {"c/a": (905, 900, 910), "c/b": (906, 902, 909), "c/c": (1800, 1810, 1805)}
    trials = [
        make_trial(
            make_plan(name, number, load=load), measurement=make_measurement(1000, response_time_us=make_distribution(p99 / 2.5, 10_000))
        )
        for name, values in p99s.items()
        for number, p99 in enumerate(values)
    ]
    run = make_run(trials)
    (group,) = groups(run, trials)
    (line,) = answer(run, group)
    assert line.startswith("the lowest p99 is undecided between c/a and c/b; the p99 of c/a is 0.50")


def test_bounds_alone_need_no_more_rounds() -> None:
    trials = [
        trial for factor in (4, 3, 2, 1) for trial in make_rounds(f"c/{factor}", [factor * rate for rate in STEADY], verdict=GENERATOR)
    ]
    assert rank_lines(trials)[0] == "No ranks: every result is only a lower bound"


# --- ranks ---------------------------------------------------------------------------------------------------------------------


def rank_lines(trials: list[Trial]) -> list[str]:
    run = make_run(trials)
    (group,) = groups(run, trials)
    return claims(run, group)


def test_rows_without_significant_differences_have_the_same_range() -> None:
    trials = [*make_rounds("c/one", STEADY), *make_rounds("c/two", SAME), *make_rounds("c/fast", [3 * rate for rate in SAME])]
    (line,) = rank_lines(trials)
    assert line == "Ranks: c/fast 1 · c/two 2–3 · c/one 2–3"


def test_a_table_without_differences_has_no_ranks() -> None:
    trials = [*make_rounds("c/one", STEADY), *make_rounds("c/two", SAME), *make_rounds("c/three", STEADY)]
    (line,) = rank_lines(trials)
    assert line.startswith("No ranks: no difference is significant after 5 rounds")
    assert line.endswith(("would be enough", "would be required"))


def test_lower_bounds_are_ranked_and_rows_with_few_rounds_are_not() -> None:
    failed = [make_failed(make_plan("c/partly", round_=number)) for number in range(2, 5)]
    trials = [
        *make_rounds("c/one", STEADY),
        *make_rounds("c/fast", FASTER),
        *make_rounds("c/limited", STEADY, verdict=GENERATOR),
        *make_rounds("c/partly", STEADY[:2]),
        *failed,
    ]
    assert rank_lines(trials) == [
        "Ranks: c/fast 1–2 · c/limited 1–3 · c/one 2–3",
        "Not ranked (fewer than 3 valid rounds): c/partly",
    ]


def test_a_claim_about_a_lower_bound_says_so() -> None:
    one, fast = make_rounds("c/one", STEADY), make_rounds("c/fast", FASTER, verdict=BOTH)
    run = make_run([*one, *fast])
    (group,) = groups(run, [*one, *fast])
    (line,) = claims(run, group)
    assert line.startswith("c/fast serves at least 1.130 ± 0.010 times the requests of c/one; ")
    assert line.endswith("; c/fast is bound by both")


def test_what_looks_slower_is_not_slower_if_it_is_a_lower_bound() -> None:
    trials = [*make_rounds("c/one", STEADY, verdict=GENERATOR), *make_rounds("c/fast", FASTER)]
    run = make_run(trials)
    (group,) = groups(run, trials)
    (line,) = claims(run, group)
    assert line.startswith("c/fast is not distinguishable from c/one: 1.130 ± 0.010 times as measured; ")
    assert line.endswith("; c/one is generator-bound")


def test_ratios_on_shared_cores_are_unknown() -> None:
    plan = {"cores": make_plan("c/one").cores.model_copy(update={"shared": True})}
    trials = [*make_rounds("c/one", STEADY, plan=plan), *make_rounds("c/fast", FASTER, plan=plan)]
    run = make_run(trials)
    (group,) = groups(run, trials)
    (line,) = claims(run, group)
    assert line == "c/fast serves more requests than c/one (shared cores: the ratio is unknown); p99 is lower"


def test_rows_on_full_shared_cores_are_ranked() -> None:
    shared = Verdict(kind=VerdictKind.SHARED, reasons=("full",))
    rows = {"c/one": STEADY, "c/fast": FASTER, "c/slow": [rate / 2 for rate in STEADY]}
    trials = [trial for name, rates in rows.items() for trial in make_rounds(name, rates, verdict=shared)]
    assert rank_lines(trials) == ["Ranks: c/fast 1 · c/one 2 · c/slow 3"]


@pytest.mark.parametrize(
    ("handled", "claim", "has_rank"),
    [
        (None, "is not compared with baseline: it was faster than its backend alone, which does not count its requests, so", False),
        (10**9, "serves 1.130 ± 0.010 times the requests of baseline", True),
    ],
)
def test_a_proxy_faster_than_no_proxy_needs_a_proof(handled: int | None, claim: str, has_rank: bool) -> None:
    rows = {"baseline": STEADY, "c/haproxy": FASTER, "c/slow": [rate / 2 for rate in STEADY], "c/slower": [rate / 3 for rate in STEADY]}
    trials = [trial for name, rates in rows.items() for trial in make_rounds(name, rates, backend_requests=handled)]
    targets = {name: make_target(name, kind=Kind.PROXY) for name in rows if name != BASELINE.id} | {BASELINE.id: BASELINE}
    run = make_run(trials, targets, table=Table.TCP_PROXIES, baseline=BASELINE.id)
    (group,) = groups(run, trials)
    lines = claims(run, group)
    assert any(line.startswith(f"proxy:c/haproxy {claim}") for line in lines), lines
    proxy, ranked = "proxy:c/haproxy", ranking(group)
    assert (proxy in ranked, proxy in differences(group, BASELINE.id)) == (has_rank, has_rank)
    assert {"proxy:c/slow", "proxy:c/slower"} <= ranked.keys()


def test_latencies_of_a_lower_bound_are_upper_bounds() -> None:
    """If a row's throughput is a lower bound, its latencies include a wait for whatever limited the row, so the true p99 may be lower."""
    slower = [rate / 2 for rate in STEADY]
    (line,) = said([*make_rounds(NEW, STEADY, verdict=GENERATOR), *make_rounds(OLD, slower)])
    assert line.startswith("new serves at least 2.00 ± 0.00 times the requests of old; p99 is at most 0.5000"), line
    (line,) = said([*make_rounds(NEW, STEADY), *make_rounds(OLD, slower, verdict=GENERATOR)])
    assert line.startswith("new is not distinguishable from old: 2.00 ± 0.00 times as measured; p99 is not distinguishable: 0.5000"), line
    assert "as measured; old is generator-bound" in line


def test_no_target_wins_by_a_p99_that_hides_stalls() -> None:
    """The target stalled for 6% of the time, but each stall delayed only one request per connection."""
    stalls = Stalls(count=5, longest_us=104_000, total_us=600_000)

    def rounds(name: str, rates: Sequence[float], p99_us: float, **changes: Any) -> list[Trial]:
        times = make_distribution(p99_us / 2)
        measured = [make_measurement(rate, service_time_us=times.model_copy(update={"p99": p99_us}), **changes) for rate in rates]
        return [make_trial(make_plan(name, number), measurement=one) for number, one in enumerate(measured)]

    (line,) = said([*rounds(NEW, FASTER, 300, stalls=stalls), *rounds(OLD, STEADY, 400)])
    assert line.endswith("p99 is not compared: new stalled 5 times in a round, longest 104 ms, which a closed loop hides"), line
    (line,) = said([*rounds(NEW, FASTER, 300), *rounds(OLD, STEADY, 400, stalls=stalls)])
    assert "p99 is 0.75" in line, "the stalls of the other one are no advantage"
    rare = stalls.model_copy(update={"total_us": 90_000})
    (line,) = said([*rounds(NEW, FASTER, 300, stalls=rare), *rounds(OLD, STEADY, 400)])
    assert "p99 is 0.75" in line, "0.9% of the time is beyond the p99"
    seen = rounds(NEW, FASTER, 70_000, stalls=stalls)
    (line,) = said([*seen, *rounds(OLD, STEADY, 80_000)])
    assert "p99 is 0.87" in line or "p99 is 0.88" in line, f"the p99 shows the stalls: {line}"


def test_one_flaky_target_does_not_cost_the_table_its_ranks() -> None:
    """One target failed in two of five rounds. The remaining three rounds alone couldn't tell the other targets apart."""
    random = np.random.default_rng(20)
    names = [f"c/{name}" for name in ("one", "two", "three", "four", "five", "six")]
    rates = [rate * np.exp(random.normal(0, 0.02, 5)) for rate in (100_000, 100_000, 100_000, 88_000, 88_000, 88_000)]
    others = [trial for name, own in zip(names, rates, strict=True) for trial in make_rounds(name, own.tolist())]
    flaky = [make_failed(make_plan("c/flaky", number), "exited with status 139") for number in (3, 4)]
    expected = rank_lines(others)
    assert expected[0].startswith("Ranks: c/one 1–3 · c/three 1–3 · c/two 1–3 · ")
    assert rank_lines([*others, *make_rounds("c/flaky", STEADY[:3]), *flaky]) == [
        *expected,
        "Not ranked (2 of 5 rounds failed or are invalid: exited with status 139): c/flaky",
    ]


def test_no_ranks_with_a_rate_or_fewer_than_three_rounds() -> None:
    trials = [trial for name in ("c/one", "c/two", "c/three") for trial in make_rounds(name, STEADY[:2])]
    assert rank_lines(trials) == ["No ranks: 3 or more rounds required"]
    load = Load(rate_rps=1000)
    offered = [trial for name in ("c/one", "c/two", "c/three") for trial in make_rounds(name, STEADY, plan={"load": load})]
    assert rank_lines(offered) == []
    assert ranking(groups(make_run(offered), offered)[0]) == {}


# --- requested precision -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("half_width", "sentence"),
    [
        (0.02, "± 0.5% after 5 rounds, within the requested ± 2.0%"),
        (0.002, "± 0.2% was not reached in 5 rounds (± 0.5%): about 46 would be enough"),
        (0.000001, "± 0.0001% was not reached in 5 rounds (± 0.5%): more rounds than practical would be required"),
    ],
)
def test_the_note_says_whether_the_precision_was_reached(half_width: float, sentence: str) -> None:
    trials = [*make_rounds(OLD, STEADY), *make_rounds(NEW, SAME)]
    asked = Precision(rounds_min=3, rounds_max=5, half_width=half_width)
    assert precision(run_of(trials, precision=asked), trials) == [sentence]


def test_precision_is_reported_only_if_requested_and_the_run_finished() -> None:
    trials = [*make_rounds(OLD, STEADY), *make_rounds(NEW, SAME)]
    assert precision(run_of(trials), trials) == []
    asked = Precision(rounds_min=3, rounds_max=9, half_width=0.02)
    assert precision(run_of(trials, precision=asked, status=RunStatus.INTERRUPTED), trials) == []
    few = [*make_rounds(OLD, STEADY[:2]), *make_rounds(NEW, SAME[:2])]
    assert precision(run_of(few, precision=asked), few) == ["± 2.0% was not reached: too few valid rounds"]


# --- numbers -------------------------------------------------------------------------------------------------------------------


def test_a_wide_interval_shows_both_ends() -> None:
    assert times(comparison((300, 100, 200), (100, 100, 100))) == "1.8 times (0.46 to 7.2)"
    assert times(comparison((30_000, 100_000, 60_000), (100, 100, 100))) == "560 times (130 to 2,500)"


def test_digits_follow_the_interval() -> None:
    assert times(comparison((2.0, 2.0, 2.0), (1.0, 1.0, 1.0))) == "2.00 ± 0.00 times"
    assert times(comparison((31.0, 35.0, 33.0), (1.0, 1.0, 1.0))) == "33 ± 5 times"


def test_a_lopsided_interval_shows_both_ends() -> None:
    ours = (100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 100.2, 99.8, 60.0, 100.0)
    assert times(comparison(ours, (100.0,) * 10)) == "0.95 times (0.84 to 1.12)"


@pytest.mark.parametrize(("half_width", "text"), [(0.018, "± 1.8%"), (0.25, "± 25%"), (0.0004, "± 0.04%"), (0, "± 0%")])
def test_plus_minus(half_width: float, text: str) -> None:
    assert plus_minus(half_width) == text


def noise(deviation: float) -> Noise:
    return Noise(
        run="aa",
        made_at="2026-11-20T08:00:00.000Z",
        hostname="bench-1",
        cpu_model="AMD EPYC 7B13",
        kernel="6.1.0-28-amd64",
        tuning={},
        target="c/epoll/edge",
        connections=64,
        load=Load(connections=64, threads=1),
        duration_s=1,
        rounds=20,
        deviation={"throughput_rps": deviation, "latency_us_p99": deviation / 100},
    )


def test_a_difference_within_the_noise_of_the_machine_is_reported_as_such() -> None:
    trials = [*make_rounds(OLD, STEADY), *make_rounds(NEW, FASTER)]
    (line,) = said(trials, noise=noise(0.2))
    assert line.endswith("0.885 ± 0.009 times; the difference in throughput is within this machine's A/A noise (± 21%)")
    assert said(trials, noise=noise(0.01)) == said(trials)


def test_the_noise_of_the_machine_is_shown_below_the_tables() -> None:
    trials = [*make_rounds(OLD, STEADY), *make_rounds(NEW, SAME)]
    (line,) = [line for line in origin(run_of(trials, noise=noise(0.02)), trials) if "noise" in line]
    assert line == "noise floor with 5 rounds: throughput 1.9%, p99 0.019% (A/A of 2026-11-20, 20 pairs of 1 s)"
    assert not [line for line in origin(run_of(trials), trials) if "noise" in line]


def test_noise_under_another_load_is_unknown_and_noted_once() -> None:
    other = {"load": Load(connections=256, threads=1)}
    trials = [*make_rounds(OLD, STEADY, plan=other), *make_rounds(NEW, FASTER, plan=other)]
    assert said(trials, noise=noise(0.2)) == said(trials)
    found = [line for line in origin(run_of(trials, noise=noise(0.2)), trials) if "noise" in line]
    assert found == ["noise under this load is unknown: A/A pairs had another load (connections 64 → 256)"]


def test_the_noise_floor_applies_to_its_own_load_only() -> None:
    other = {"load": Load(connections=256, threads=1)}
    trials = [
        *make_rounds(OLD, STEADY),
        *make_rounds(NEW, SAME),
        *make_rounds(OLD, STEADY, plan=other),
        *make_rounds(NEW, SAME, plan=other),
    ]
    (line,) = [line for line in origin(run_of(trials, noise=noise(0.02)), trials) if "noise" in line]
    assert line.endswith("20 pairs of 1 s, for tables under its load only)")
