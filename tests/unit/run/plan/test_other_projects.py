"""Tests of targets from another project's catalog: which are refused, where they listen, and which workloads they serve."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from httpbench.catalog import techempower
from httpbench.model import Cores, Engine, Isolation, Load, NetworkMode, Scaling, Target
from httpbench.run import Matrix, StartContext, State, make_plan, prepare
from httpbench.run.builds.image import build_command, image_of
from httpbench.run.builds.states import state_of
from httpbench.run.observer import Observer
from httpbench.run.plan.isolated import isolated
from httpbench.run.trial.start import launch_of
from tests.factories import make_target

CLONE = Path(__file__).parents[3] / "targets" / "techempower"
TARGETS = {target.id: target for target in techempower.read(CLONE)}
CORES = Cores(target=(0,), generator=(1,), harness=(1,), shared=False)
DOCKER = Isolation(engine=Engine.DOCKER)
SILENT = cast("Observer", None)
"""``None`` in place of an observer. A refused target isn't built, so the observer is never used."""
HINT = "add --isolate docker to bench, saturate, up or verify"
PLACE = StartContext(Path("/build"), Path("/scratch"), ((0,),), port=7000)


def contained(name: str) -> Target:
    return isolated(TARGETS[name], DOCKER)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("perl/asks-database/mongo", "requires a database (mongodb) that Debian does not package: not supported"),
        ("perl/tagged", "techempower tags it as broken"),
        ("perl/unreadable", "its configuration is invalid: benchmark_config.json is not JSON"),
    ],
)
def test_a_refused_target_fails_with_its_reason_without_asking_an_engine(name: str, reason: str) -> None:
    for target in (TARGETS[name], contained(name)):
        state = state_of(target)
        assert (state.state, (state.reason or "").startswith(reason)) == (State.REFUSED, True)
        built = prepare([target], SILENT, 1)
        assert built.errors[target.id].message.startswith(reason)


def test_a_target_with_only_a_dockerfile_runs_only_in_containers() -> None:
    target = TARGETS["perl/small"]
    assert state_of(target).fix == "httpbench verify --isolate docker perl/small"
    error = prepare([target], SILENT, 1).errors[target.id]
    assert (error.message, error.hint) == ("it has a Dockerfile but no command, so it runs only in a container", HINT)


@pytest.mark.parametrize("network", list(NetworkMode))
def test_an_image_without_a_configurable_port_uses_its_own(network: NetworkMode) -> None:
    target = isolated(TARGETS["perl/small/forks"], DOCKER.model_copy(update={"network": network}))
    assert target.isolation is not None
    launch, port = launch_of(target, target.isolation, Scaling.MULTI, PLACE)
    assert port == 8092
    assert launch.argv == ("perl", "/server.pl", "8092", "two processes")


def test_an_image_is_built_as_in_its_own_project() -> None:
    command = build_command(contained("perl/small/forks"), "image")
    arguments = [word for option, word in pairwise(command) if option == "--build-arg"]
    assert {"BENCHMARK_ENV=httpbench", "TFB_TEST_NAME=small-forks", "TFB_TEST_DATABASE=none"} <= set(arguments)
    assert command[command.index("--file") + 1] == str(CLONE / "frameworks/Perl/small/small.dockerfile")
    assert command[-1] == str(CLONE / "frameworks/Perl/small")


def test_the_tests_of_a_framework_have_separate_images() -> None:
    names = [image_of(contained(name)).partition(":")[0] for name in ("perl/small", "perl/small/forks", "c++/older")]
    assert names == ["httpbench/server-perl-small", "httpbench/server-perl-small-forks", "httpbench/server-cplusplus-older"]


def matrix(*targets: Target, **changes: Any) -> Matrix:
    return Matrix(targets, [Scaling.SINGLE], ["plaintext", "json"], [Load()], ["native"], 1, **changes)


def test_a_target_is_measured_under_the_workloads_that_it_serves() -> None:
    plan = make_plan(
        matrix(make_target("c/a"), make_target("c/b"), serves=lambda target, name: (target.id, name) != ("c/a", "json")), lambda _: CORES, 1
    )
    assert sorted((trial.target, trial.workload) for trial in plan.trials) == [("c/a", "plaintext"), ("c/b", "json"), ("c/b", "plaintext")]
    assert plan.skipped == {}


def test_a_target_that_serves_no_workload_is_skipped_with_the_reason() -> None:
    target = make_target("c/a", paths={"db": "/db", "query": "/queries?queries="})
    plan = make_plan(matrix(target, serves=lambda *_: False), lambda _: CORES, 1)
    assert (plan.trials, plan.skipped) == ((), {"c/a": "declares no path for plaintext or json, only for db, query"})
