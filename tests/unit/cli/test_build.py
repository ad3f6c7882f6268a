"""Tests of which builds ``httpbench build`` makes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from httpbench import catalog
from httpbench.cli.main import cli
from httpbench.errors import UsageError
from httpbench.model import Target
from httpbench.run import Built


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the builds, without making them."""
    names: list[str] = []

    def prepare(targets: Sequence[Target], *others: object) -> Built:
        names.extend(target.build_name for target in targets)
        return Built({}, {}, {})

    monkeypatch.setattr("httpbench.run.prepare", prepare)
    return names


def test_a_suite_builds_its_targets_with_the_features_of_its_trials(prepared: list[str]) -> None:
    CliRunner().invoke(cli, ["build", "--suite", "quick"], catch_exceptions=False)
    assert {"c/nginx", "rust/hyper", "rust/actix-web"} <= set(prepared)
    assert not any("(" in name for name in prepared), "plaintext without TLS needs no feature"


def test_a_suite_with_a_database_builds_it_once(prepared: list[str]) -> None:
    assert len(catalog.load().suite("techempower").load[0].connections) > 1
    CliRunner().invoke(cli, ["build", "--suite", "techempower", "rust/actix-web"], catch_exceptions=False)
    assert sorted(prepared) == ["rust/actix-web", "rust/actix-web (database)"]


@pytest.mark.parametrize("words", [("--tls",), ("--http2",), ("--workload", "db")])
def test_a_suite_determines_workloads_and_protocols(words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="--suite already determines workloads and protocols"):
        CliRunner().invoke(cli, ["build", "--suite", "quick", *words], catch_exceptions=False)


def test_the_protocol_and_the_workload_choose_the_features(prepared: list[str]) -> None:
    for words in ((), ("--tls",), ("--workload", "db")):
        CliRunner().invoke(cli, ["build", "rust/actix-web", "rust/hyper", "--kind", "server", *words], catch_exceptions=False)
    assert prepared == ["rust/actix-web", "rust/hyper", "rust/actix-web (tls)", "rust/hyper (tls)", "rust/actix-web (database)"]
