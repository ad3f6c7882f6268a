"""Tests of groups of rows: which rows are compared with each other, how they are ordered, and how they are marked."""

from __future__ import annotations

import pytest

from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group
from httpbench.model import Load, Scaling, Trial, Verdict, VerdictKind
from tests.factories import (
    SHARED,
    make_failed,
    make_measurement,
    make_mixed_run,
    make_plan,
    make_response,
    make_rounds,
    make_run,
    make_trial,
)
from tests.made_runs import make_clients_run


def groups_of(trials: list[Trial]) -> list[Group]:
    return groups(make_run(trials), trials)


def ids(group: Group) -> list[str]:
    return [row.target.id for row in group.rows]


def test_rows_are_ordered_by_throughput_and_rows_without_results_come_last() -> None:
    run, trials = make_mixed_run()
    first, second = groups(run, trials)
    assert ids(first)[:5] == ["c/epoll/level", "golang/fasthttp", "c/nginx", "python/gunicorn-meinheld", "node/express"]
    assert ids(first)[5:] == ["rust/actix-raw", "rust/hyper"]
    assert ids(second) == ["c/epoll/level", "golang/fasthttp"]


def test_one_slow_round_does_not_change_the_order_of_clients() -> None:
    run, trials = make_clients_run({"client:c/curl": (0.10, 0.90, 0.11), "client:golang/http-client": (0.20, 0.21, 0.20)})
    assert ids(groups(run, trials)[0]) == ["client:c/curl", "client:golang/http-client", "client:rust/hyper"]


def test_rows_under_different_loads_never_share_a_table() -> None:
    plans = [
        make_plan(load=Load(connections=256)),
        make_plan(load=Load(connections=8)),
        make_plan(load=Load(connections=8, pipeline=4)),
        make_plan(load=Load(connections=8), scaling=Scaling.MULTI),
        make_plan(load=Load(connections=8), load_generator="wrk"),
        make_plan(load=Load(connections=8, duration_s=3)),
    ]
    found = groups_of([make_trial(plan) for plan in plans])
    assert len(found) == len(plans)
    assert [group.load.connections for group in found if group.scaling is Scaling.SINGLE and group.load_generator == "native"] == [
        8,
        8,
        8,
        256,
    ]
    assert found[-1].scaling is Scaling.MULTI


@pytest.mark.parametrize("kind", [VerdictKind.GENERATOR, VerdictKind.BOTH])
def test_a_generator_bound_row_is_a_lower_bound(kind: VerdictKind) -> None:
    limited = Verdict(kind=kind, reasons=("full",))
    (group,) = groups_of([*make_rounds("a/a", (10,), verdict=limited), *make_rounds("b/b", (20,))])
    assert {row.target.id: row.is_lower_bound for row in group.rows} == {"a/a": True, "b/b": False}


def test_only_responses_of_a_clearly_different_size_are_marked() -> None:
    sizes = {"a/a": 152, "b/b": 156, "c/c": 152, "d/d": 192}
    (group,) = groups_of([make_trial(make_plan(name), response=make_response(size)) for name, size in sizes.items()])
    assert {row.target.id for row in group.rows if row.odd_size} == {"d/d"}
    assert {row.target.id: row.response_bytes for row in group.rows} == sizes


def test_a_row_has_the_log_of_its_last_invalid_round() -> None:
    trials = [make_failed(make_plan("a/a", round_=index), log_tail=f"round {index}") for index in range(2)]
    (group,) = groups_of(trials)
    assert group.rows[0].log_tail == "round 1"


def test_the_log_of_a_valid_round_is_omitted() -> None:
    (group,) = groups_of([make_trial(log_tail="listening")])
    assert group.rows[0].log_tail is None


def test_a_group_knows_shared_cores_and_limitations_of_its_generator() -> None:
    measurement = make_measurement(notes=("bodies are not checked",))
    (group,) = groups_of([make_trial(make_plan(cores=SHARED, round_=index), measurement=measurement) for index in range(2)])
    assert group.cores_shared
    assert set(group.generator_notes) == {"bodies are not checked"}
    assert group.rounds == 2


def test_a_run_without_trials_has_no_tables() -> None:
    assert groups_of([]) == []
