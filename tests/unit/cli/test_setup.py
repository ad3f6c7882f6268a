"""Tests of the requirements that ``httpbench setup`` looks for."""

from __future__ import annotations

from httpbench.cli.options.shared import Selection
from httpbench.cli.verbs.setup import SetupOptions, _required
from httpbench.databases import SYSTEMS
from httpbench.model import Database


def _requirements(*words: str, suites: tuple[str, ...] = (), workloads: tuple[str, ...] = ()) -> dict[str, object]:
    return dict(_required(SetupOptions(Selection(words, None, (), (), (), ()), suites, (), workloads, False, False)))


def test_the_database_of_a_target_is_installed_with_it() -> None:
    found = _requirements("golang/net-http")
    assert found["database of golang/net-http"] == (SYSTEMS[Database.POSTGRES].requirement,)


def test_a_database_is_omitted_if_no_workload_uses_it() -> None:
    assert "database of golang/net-http" not in _requirements("golang/net-http", workloads=("plaintext", "json"))
    assert "database of golang/net-http" in _requirements("golang/net-http", workloads=("plaintext", "query-5"))
    assert "database of golang/net-http" not in _requirements(suites=("quick",))
    assert "database of golang/net-http" in _requirements(suites=("techempower",))
    assert "database of golang/net-http" in _requirements(suites=("quick", "techempower"))


def test_a_target_without_a_database_requires_none() -> None:
    assert set(_requirements("c/nginx")) == {"c/nginx"}
