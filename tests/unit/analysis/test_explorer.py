"""Tests of the results explorer's matrix: ratios to the fastest target, what bounds do to them, and why a table lacks a target."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.analysis.explorer import ExploredLoad, ExploredRun, Headline, Why, explored
from httpbench.model import Load, RunStatus, Trial, Verdict, VerdictKind, Workload
from tests.factories import make_failed, make_plan, make_rounds, make_run, make_starts, make_target
from tests.made_runs import make_clients_run, make_search_run

GENERATOR = Verdict(kind=VerdictKind.GENERATOR)
SPEEDS = st.lists(st.floats(100, 1e6), min_size=3, max_size=3)


def explored_run(trials: list[Trial], name: str = "r") -> ExploredRun:
    return ExploredRun(name, make_run(trials), trials)


def only(*trials: Trial) -> ExploredLoad:
    (load,) = explored([explored_run(list(trials))]).loads
    return load


@given(ours=SPEEDS, theirs=SPEEDS)
def test_the_fastest_target_has_ratio_one_and_other_ratios_lie_in_their_intervals(ours: list[float], theirs: list[float]) -> None:
    load = only(*make_rounds("c/a", ours), *make_rounds("c/b", theirs))
    leader, other = load.cells
    assert leader.relative is not None and leader.relative.ratio == 1 and leader.relative.interval is None
    assert other.relative is not None and other.relative.interval is not None
    assert other.relative.interval.low <= other.relative.ratio * 1.000001
    assert other.relative.ratio <= other.relative.interval.high * 1.000001


def test_a_bound_of_the_fastest_target_lowers_ratios_and_one_of_another_target_raises_its_own() -> None:
    fast, slow = make_rounds("c/a", (1000, 1001, 1002)), make_rounds("c/b", (500, 501, 502))
    bound = only(*make_rounds("c/a", (1000, 1001, 1002), verdict=GENERATOR), *slow).cells[1].relative
    assert bound and (bound.may_be_lower, bound.may_be_higher) == (True, False)
    bound = only(*fast, *make_rounds("c/b", (500, 501, 502), verdict=GENERATOR)).cells[1].relative
    assert bound and (bound.may_be_lower, bound.may_be_higher) == (False, True)
    exact = only(*fast, *slow).cells[1].relative
    assert exact and (exact.may_be_lower, exact.may_be_higher) == (False, False)
    assert exact.ratio == pytest.approx(0.5, rel=0.01)


def test_a_row_that_is_not_compared_has_no_ratio_and_no_rank() -> None:
    failed = [make_failed(make_plan("c/b", round_)) for round_ in range(3)]
    cell = only(*make_rounds("c/a", (1000, 1001, 1002)), *failed).cells[1]
    assert (cell.rank, cell.relative, cell.estimate) == (None, None, None)


def test_a_load_with_a_rate_has_no_ratios_and_its_headline_is_the_p99() -> None:
    plan = {"load": Load(rate_rps=1000)}
    load = only(*make_rounds("c/a", (1000, 1000, 1000), plan=plan), *make_rounds("c/b", (1000, 1000, 1000), plan=plan))
    assert load.headline is Headline.P99
    assert [cell.relative for cell in load.cells] == [None, None]


def test_clients_and_starts_are_compared_by_their_times() -> None:
    run, trials = make_clients_run()
    clients = explored([ExploredRun("clients", run, trials)]).loads[0]
    assert clients.headline is Headline.TIME
    assert clients.cells[0].estimate and clients.cells[0].estimate.median == pytest.approx(0.11)
    starts = only(*make_starts("c/a", (0.01, 0.011, 0.012)), *make_starts("c/b", (0.1, 0.11, 0.12)))
    assert starts.headline is Headline.READY
    assert starts.cells[1].relative and starts.cells[1].relative.ratio == pytest.approx(0.1, rel=0.05)


def test_tables_that_differ_only_in_connections_are_a_family() -> None:
    loads = [Load(connections=8), Load(connections=64), Load(connections=64, pipeline=4)]
    trials = [trial for load in loads for trial in make_rounds("c/a", (1, 2, 3), plan={"load": load})]
    found = explored([explored_run(trials, "one"), explored_run(trials, "two")]).loads
    assert [load.family for load in found] == [0, 0, None, 1, 1, None]


def test_each_absence_has_its_reason() -> None:
    trials = make_rounds("c/a", (1000, 1001, 1002))
    plan = (*(trial.plan for trial in trials), make_plan("c/late", 0, 9))
    targets = {name: make_target(name) for name in ("c/a", "c/late")} | {"c/json": make_target("c/json", paths={"json": "/json"})}
    workloads = {"plaintext": Workload(name="plaintext", description="x")}
    changes = {"targets": targets, "plan": plan, "workloads": workloads, "status": RunStatus.INTERRUPTED}
    run = make_run(trials).model_copy(update=changes)
    first = ExploredRun("r", run, trials, ("c/none: requires gcc", "HTTP/2 over TLS of c/old: not declared"))
    found = explored([first, explored_run(make_rounds("c/other", (1, 2, 3)), "s")])
    assert list(found.targets) == ["c/a", "c/json", "c/late", "c/none", "c/old", "c/other"]
    assert {name: absence.why for name, absence in found.loads[0].absences.items()} == {
        "c/json": Why.NOT_SERVED,
        "c/late": Why.NOT_FINISHED,
        "c/none": Why.SKIPPED,
        "c/old": Why.SKIPPED,
        "c/other": Why.NOT_PLANNED,
    }
    assert found.loads[0].absences["c/old"].lines == ["HTTP/2 over TLS of c/old: not declared"]


def test_a_search_is_counted_instead_of_shown() -> None:
    run, trials = make_search_run()
    found = explored([ExploredRun("search", run, trials)])
    assert (found.loads, found.targets, found.searches) == ([], {}, 1)
