"""Tests of how a target's database is chosen, and how the target finds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench import catalog
from httpbench.catalog import techempower
from httpbench.model import Database, Engine, Isolation, NetworkMode, Scaling, Target
from httpbench.run import StartContext, database_of
from httpbench.run.plan.isolated import isolated
from httpbench.run.trial.context import Reachable
from httpbench.run.trial.start import Inside, filled, launch_of
from tests.factories import make_target

KNOWN = catalog.load()
DB, PLAINTEXT = KNOWN.workload("db"), KNOWN.workload("plaintext")
CLONE = Path(__file__).parents[3] / "targets" / "techempower"
FOREIGN = {target.id: target for target in techempower.read(CLONE)}["perl/asks-database"]
REACHABLE = Reachable("127.64.0.1", "postgres://somebody@127.64.0.1:5432/hello_world")
PLACE = StartContext(Path("/build"), Path("/scratch"), ((0,),), port=7000, database=REACHABLE)


def own() -> Target:
    return make_target("c/a").model_copy(update={"database": Database.POSTGRES})


def test_a_built_in_target_has_a_database_only_for_workloads_that_query_one() -> None:
    found = database_of(own(), DB)
    assert found is not None
    assert (found.id, found.isolation) == ("database/postgres", None)
    assert database_of(own(), PLAINTEXT) is None
    assert database_of(make_target("c/a"), DB) is None


def test_a_catalog_target_always_has_its_database() -> None:
    assert database_of(FOREIGN, PLAINTEXT) is not None


@pytest.mark.parametrize("network", list(NetworkMode))
def test_a_database_runs_in_the_same_place_as_its_target(network: NetworkMode) -> None:
    contained = isolated(FOREIGN, Isolation(engine=Engine.DOCKER, cpus=0.5, network=network))
    found = database_of(contained, DB)
    assert found is not None
    assert found.isolation is not None
    assert (found.isolation.engine, found.isolation.network) == (Engine.DOCKER, network)


def test_a_server_that_is_already_running_has_its_own_database() -> None:
    assert database_of(own().model_copy(update={"url": "http://127.0.0.1:80"}), DB) is None


def test_a_target_finds_its_database_through_its_environment() -> None:
    inside = Inside("127.0.0.1", 7000, 1, "/scratch")
    assert filled(own(), PLACE, inside)[1]["DATABASE_URL"] == REACHABLE.url
    assert "DATABASE_URL" not in filled(own(), StartContext(Path("/build"), Path("/scratch"), ((0,),)), inside)[1]


def test_a_container_finds_the_database_by_host_name() -> None:
    contained = isolated(FOREIGN, Isolation(engine=Engine.DOCKER))
    assert contained.isolation is not None
    launch, _ = launch_of(contained, contained.isolation, Scaling.SINGLE, PLACE)
    words = launch.command()
    assert words[words.index("--add-host") + 1] == "tfb-database:127.64.0.1"
