"""Tests that a clone of HttpArena is read correctly. The folder ``tests/targets/httparena`` has the same layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from httpbench import catalog
from httpbench.catalog import httparena
from httpbench.errors import CatalogError
from httpbench.model import Scaling, Tuning
from httpbench.paths import ids

CLONE = Path(__file__).parents[2] / "targets" / "httparena"
TARGETS = {target.id: target for target in httparena.read(CLONE)}
GOOD = {"display_name": "One", "language": "C", "type": "tuned", "tests": ["baseline"]}


def refusal(name: str) -> str | None:
    entry = TARGETS[name].entry
    assert entry is not None
    return entry.refusal


def test_each_framework_is_a_target_named_after_its_language_and_folder() -> None:
    assert sorted(TARGETS) == [
        "csharp/sockets",
        "perl/disabled",
        "perl/scripted",
        "perl/small",
        "ts/bare",
        "unknown/unreadable",
        "unknown/wrong",
    ]


def test_a_target_has_all_facts_of_its_configuration() -> None:
    target = TARGETS["perl/small"]
    entry = target.entry
    assert entry is not None
    assert (entry.catalogue, entry.name, entry.display_name, entry.platform, entry.refusal) == (
        "httparena",
        "small",
        "Small",
        "select",
        None,
    )
    assert entry.tests == ("baseline", "pipelined", "limited-conn", "json", "static", "async-db")
    assert (target.category, target.tuning, target.upstream) == (None, Tuning.DEFAULT, "https://example.org/small")
    assert target.notes == "One process that reads the data set when it starts."
    assert (target.run, target.scaling) == ((), (Scaling.SINGLE, Scaling.MULTI))
    assert (target.container.dockerfile, target.container.port, target.container.fixed_port) == ("Dockerfile", 8080, True)
    assert TARGETS["ts/bare"].tuning is Tuning.ENGINE


def test_a_target_declares_the_tests_that_httpbench_supports() -> None:
    assert TARGETS["perl/small"].paths == {
        "httparena-baseline": "/baseline11?a=13&b=42",
        "httparena-pipelined": "/pipeline",
        "httparena-json": "/json/50?m=6",
    }
    assert TARGETS["ts/bare"].paths == {"httparena-pipelined": "/pipeline"}


def test_existing_data_of_the_clone_is_mounted() -> None:
    mounts = TARGETS["perl/small"].mounts
    assert mounts == {"/data/dataset.json": str(CLONE / "data/dataset.json"), "/data/static": str(CLONE / "data/static")}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("csharp/sockets", "httpbench supports none of its tests: echo-ws, unary-grpc"),
        ("perl/scripted", "its image is built by build.sh: not supported"),
        ("perl/disabled", "httparena disables this framework"),
        (
            "unknown/wrong",
            "its configuration is invalid: language: missing; "
            'type: "fast" is not allowed; use one of production, tuned, engine, infrastructure; '
            'tests: must be an array: [ … ], not "baseline"; Dockerfile: not in its folder',
        ),
    ],
)
def test_a_refused_target_keeps_its_row_with_all_reasons(name: str, reason: str) -> None:
    assert refusal(name) == reason


def test_an_unreadable_file_keeps_a_row() -> None:
    assert (refusal("unknown/unreadable") or "").startswith("its configuration is invalid: meta.json is not JSON: ")


@pytest.mark.parametrize(
    ("meta", "problem"),
    [
        ([], "meta.json: must be an object"),
        (GOOD | {"tests": []}, "tests: must not be empty"),
        (GOOD | {"language": ""}, 'language: string should have at least 1 character, not ""'),
        (GOOD | {"language": "#"}, None),
        (GOOD | {"repo": "somewhere", "maintainers": 3, "engine": None}, None),
    ],
)
def test_a_wrong_value_is_reported(tmp_path: Path, meta: Any, problem: str | None) -> None:
    own = tmp_path / "frameworks" / "one"
    own.mkdir(parents=True)
    (own / "Dockerfile").write_text("FROM scratch\n")
    (own / "meta.json").write_text(json.dumps(meta))
    (target,) = httparena.read(tmp_path)
    assert target.entry is not None
    assert target.entry.problems == (() if problem is None else (problem,))


@pytest.mark.parametrize("folder", ["missing", "."])
def test_a_folder_that_is_not_a_clone_is_refused(tmp_path: Path, folder: str) -> None:
    with pytest.raises(CatalogError, match=r"httparena:DIR requires a clone of github\.com/MDA2AV/HttpArena"):
        httparena.read(tmp_path / folder)


def test_load_reads_the_whole_catalog() -> None:
    assert set(catalog.load([Path(f"httparena:{CLONE}")]).targets) == set(TARGETS)


def test_completion_offers_the_ids_of_readable_files() -> None:
    assert set(ids([Path(f"httparena:{CLONE}")])) == {name for name in TARGETS if not name.startswith("unknown/")}
