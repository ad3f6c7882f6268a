"""Tests of the first lines below a table: which target is fastest, and by how much."""

from __future__ import annotations

from typing import Any

from httpbench.analysis.groups import groups
from httpbench.model import ClientWork, Kind, Load, Table, Trial, Verdict, VerdictKind, Workload
from httpbench.report.words.claims import answer, unranked
from tests.factories import make_client, make_distribution, make_measurement, make_plan, make_rounds, make_run, make_target, make_trial

STEADY = (100_000, 101_000, 100_500, 99_800, 100_200)
SAME = (100_300, 100_600, 100_900, 99_500, 100_400)


def said(trials: list[Trial], **changes: Any) -> list[str]:
    run = make_run(trials, **changes)
    (group,) = groups(run, trials)
    return answer(run, group)


def scaled(factor: float) -> list[float]:
    return [factor * rate for rate in STEADY]


def clients(**seconds: tuple[float, ...]) -> list[str]:
    trials = [
        make_trial(make_plan(f"client:c/{name}", round_), measurement=None, target_usage=None, client=make_client(wall_s))
        for name, times in seconds.items()
        for round_, wall_s in enumerate(times)
    ]
    workloads = {"plaintext": Workload(name="plaintext", description="Small", client=ClientWork(requests=1000))}
    names = dict.fromkeys(trial.plan.target for trial in trials)
    targets = {name: make_target(name.partition(":")[2], kind=Kind.CLIENT) for name in names}
    return said(trials, table=Table.HTTP_CLIENTS, workloads=workloads, targets=targets)


def test_the_fastest_is_compared_with_the_nearest_slower_target() -> None:
    trials = [*make_rounds("c/a", scaled(1)), *make_rounds("c/b", scaled(2.0)), *make_rounds("c/c", scaled(0.5))]
    (line,) = said(trials)
    assert line.startswith("c/b serves 2.00")
    assert line.endswith(" times the requests of c/a")


def test_targets_that_may_have_rank_1_are_listed() -> None:
    trials = [*make_rounds("c/one", STEADY), *make_rounds("c/two", SAME), *make_rounds("c/slow", scaled(0.5))]
    (line,) = said(trials)
    assert line.startswith("rank 1 is undecided between c/two and c/one; c/two serves ")
    assert line.endswith(" times the requests of c/slow")


def test_a_target_with_noisy_rounds_may_have_rank_1() -> None:
    steady = [
        trial
        for factor in (1.0, 0.92, 0.59, 0.5, 0.41, 0.12)
        for trial in make_rounds(f"c/{factor}", [factor * rate for rate in (182_000, 180_000, 185_000)])
    ]
    (line,) = said([*steady, *make_rounds("c/wild", (24_000, 47_000, 35_000))])
    assert line.startswith("rank 1 is undecided between c/1.0, c/0.92 and c/wild; c/1.0 serves 1.69 ± 0.")


def test_without_differences_the_answer_is_one_sentence() -> None:
    trials = [*make_rounds("c/one", STEADY), *make_rounds("c/two", SAME), *make_rounds("c/three", STEADY[::-1])]
    (line,) = said(trials)
    assert line.startswith("No ranks: no difference is significant after 5 rounds")


def test_too_few_rounds_make_no_claim() -> None:
    trials = [trial for name in ("c/a", "c/b", "c/c") for trial in make_rounds(name, STEADY[:2])]
    assert said(trials) == ["No ranks: 3 or more rounds required"]


def test_every_server_is_compared_with_the_baseline() -> None:
    trials = [*make_rounds("c/a", scaled(1)), *make_rounds("c/b", scaled(2.0)), *make_rounds("c/c", scaled(0.5))]
    lines = said(trials, baseline="c/a")
    assert [line.split(" serves")[0] for line in lines] == ["c/b", "c/c"]


def test_at_a_rate_the_lowest_p99_leads() -> None:
    load = Load(rate_rps=1000)
    trials = [
        make_trial(
            make_plan(name, round_=number, load=load),
            measurement=make_measurement(1000, response_time_us=make_distribution(p99 / 2.5, 10_000)),
        )
        for name, p99s in {"c/a": (900, 910, 905), "c/b": (450, 452, 456), "c/c": (1800, 1810, 1805)}.items()
        for number, p99 in enumerate(p99s)
    ]
    (line,) = said(trials)
    assert line.startswith("the p99 of c/b is 0.50")
    assert line.endswith("that of c/a")


def test_the_summary_of_clients_is_like_that_of_hyperfine() -> None:
    lines = clients(slow=(2.0, 2.02, 2.01), fast=(1.0, 1.01, 1.005), same=(1.01, 1.0, 1.006))
    assert lines[0] == "c/fast was"
    assert lines[1].startswith("  not distinguishable from c/same: 0.9")
    assert lines[2].startswith("  2.0")
    assert lines[2].endswith(" times faster than c/slow")


def test_a_single_client_has_no_comparison() -> None:
    assert clients(alone=(1.0, 1.0, 1.0)) == []


def test_unranked_rows_are_listed_on_one_line() -> None:
    generator = Verdict(kind=VerdictKind.GENERATOR, reasons=("generator-bound",))
    trials = [*make_rounds("c/a", scaled(1)), *make_rounds("c/b", scaled(2)), *make_rounds("c/c", scaled(3), verdict=generator)]
    invalid = Verdict(kind=VerdictKind.INVALID, reasons=("wrong",))
    flaky = [*make_rounds("c/d", STEADY[:2]), *make_rounds("c/d", STEADY[2:], verdict=invalid)]
    numbered = [*trials, *(trial.model_copy(update={"plan": make_plan("c/d", round_=n)}) for n, trial in enumerate(flaky))]
    run = make_run(numbered)
    (group,) = groups(run, numbered)
    assert unranked(group) == "Not ranked (fewer than 3 valid rounds): c/d"
