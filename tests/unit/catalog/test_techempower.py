"""Tests that a clone of TechEmpower's FrameworkBenchmarks is read correctly.

The folder ``tests/targets/techempower`` has the same layout.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from httpbench import catalog
from httpbench.catalog import foreign, techempower
from httpbench.errors import CatalogError
from httpbench.model import Approach, Category, Database, Orm, Scaling, Tuning
from httpbench.paths import ids, read_small

CLONE = Path(__file__).parents[2] / "targets" / "techempower"
TARGETS = {target.id: target for target in techempower.read(CLONE)}
GOOD = {"json_url": "/json", "port": 8080, "language": "C", "classification": "Micro", "dockerfile": "one.dockerfile"}


def test_each_test_is_a_target_named_after_its_folder() -> None:
    assert sorted(TARGETS) == [
        "c++/older",
        "c++/older/fast",
        "perl/asks-database",
        "perl/asks-database/hello",
        "perl/asks-database/mongo",
        "perl/asks-database/mysql",
        "perl/small",
        "perl/small/forks",
        "perl/tagged",
        "perl/unreadable",
        "perl/wrong",
        "perl/wrong/right",
    ]


def test_a_target_has_all_facts_of_its_configuration() -> None:
    target = TARGETS["perl/small/forks"]
    entry = target.entry
    assert entry is not None
    assert (entry.catalogue, entry.name, entry.display_name) == ("techempower", "small-forks", "Small with forks")
    assert (entry.approach, entry.platform, entry.versus, entry.refusal) == (Approach.STRIPPED, "Forks", "small", None)
    assert (target.category, target.tuning, target.notes) == (Category.MICRO, Tuning.ENGINE, "Two processes on one listener")
    assert target.paths == {"plaintext": "/plaintext", "json": "/json"}
    assert target.run == ("perl", "/server.pl", "8092", "two processes")
    assert target.scaling == (Scaling.SINGLE, Scaling.MULTI)
    assert (target.container.dockerfile, target.container.port, target.container.fixed_port) == ("small.dockerfile", 8092, True)
    assert target.container.build_args["TFB_TEST_NAME"] == "small-forks"
    assert target.is_declared


def test_a_test_without_a_command_runs_that_of_its_image() -> None:
    target = TARGETS["perl/small"]
    assert (target.run, target.container.dockerfile, target.container.port) == ((), "small.dockerfile", 8091)


def test_a_test_with_a_database_missing_from_debian_keeps_its_row_with_the_reason() -> None:
    entry = TARGETS["perl/asks-database/mongo"].entry
    assert entry is not None
    assert entry.refusal == "requires a database (mongodb) that Debian does not package: not supported"


def test_a_test_that_queries_a_database_names_it() -> None:
    target = TARGETS["perl/asks-database"]
    assert target.entry is not None
    assert (target.entry.database, target.entry.orm) == (Database.POSTGRES, Orm.RAW)
    assert (target.database, target.entry.refusal) == (Database.POSTGRES, None)
    assert set(target.paths) == {"plaintext", "json", "db", "query", "fortune", "update", "cached-query"}


def test_a_test_without_a_database_path_requires_no_database() -> None:
    target = TARGETS["perl/asks-database/hello"]
    assert target.entry is not None
    assert (target.entry.database, target.entry.refusal) == (None, None)
    assert target.category is None
    assert target.is_declared


def test_a_tag_can_mark_a_target_as_broken() -> None:
    entry = TARGETS["perl/tagged"].entry
    assert entry is not None
    assert entry.refusal == "techempower tags it as broken"


def test_all_problems_of_a_test_are_reported_and_the_other_tests_are_read() -> None:
    entry = TARGETS["perl/wrong"].entry
    assert entry is not None
    assert entry.problems == (
        "language: missing",
        'port: should be less than or equal to 65535, not "80800"',
        'classification: "mikro" is not allowed; use one of micro, platform, fullstack (did you mean "micro"?)',
        "docker_cmd: No closing quotation",
        'plaintext_url: "plaintext" does not match ^/[!-~]*$',
        "orm: missing; required with a database",
        'os: "Windows" is not supported; only Linux is',
        "wrong.dockerfile: not in its folder",
    )
    right = TARGETS["perl/wrong/right"].entry
    assert right is not None
    assert right.refusal is None


def test_an_unreadable_file_keeps_a_row() -> None:
    entry = TARGETS["perl/unreadable"].entry
    assert entry is not None
    assert entry.refusal is not None
    assert entry.refusal.startswith("its configuration is invalid: benchmark_config.json is not JSON: ")


def test_the_older_form_is_read_if_there_is_no_newer_one() -> None:
    target, fast = TARGETS["c++/older"], TARGETS["c++/older/fast"]
    assert target.entry is not None
    assert (target.entry.name, target.entry.problems) == ("older", ())
    assert (target.container.port, target.paths) == (9090, {"plaintext": "/plaintext", "cached-query": "/cached-worlds?queries="})
    assert (fast.container.port, fast.container.dockerfile) == (9091, "older-fast.dockerfile")


def configured(folder: Path, text: str) -> list[str]:
    """Return the problems that are found in a configuration with a single test."""
    own = folder / "frameworks" / "C" / "one"
    own.mkdir(parents=True)
    (own / "one.dockerfile").touch()
    (own / "benchmark_config.json").write_text(text)
    (target,) = techempower.read(folder)
    assert target.id == "c/one"
    assert target.entry is not None
    return list(target.entry.problems)


def test_a_valid_configuration_has_no_problems(tmp_path: Path) -> None:
    assert configured(tmp_path, json.dumps({"framework": "one", "tests": [{"default": GOOD}]})) == []


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        ([], ["benchmark_config.json: must be an object"]),
        ({}, ["framework: must be a string", "tests: must be an array of objects"]),
        ({"framework": "one", "tests": []}, ["tests: must not be empty"]),
        ({"framework": "one", "tests": [["x"]]}, ["tests: must be an array of objects"]),
        ({"framework": "one", "tests": [{"default": 1}]}, ["tests.default: must be an object"]),
        ({"framework": "one", "tests": [{"default": {**GOOD, "port": "x"}}]}, ["port: should be a valid integer"]),
        ({"framework": "one", "tests": [{"default": {**GOOD, "tags": "broken"}}]}, ['tags: must be an array: [ … ], not "broken"']),
        ({"framework": "one", "tests": [{"default": {**GOOD, "json_url": None}}]}, []),
        ({"framework": "one", "tests": [{"default": {**GOOD, "dockerfile": "../x"}}]}, ["../x: not in its folder"]),
        ({"framework": "one", "tests": [{"default": {**GOOD, "dockerfile": "/etc/passwd"}}]}, ['dockerfile: "/etc/passwd" does not match']),
        ({"framework": "one", "tests": [{"default": {"port": 80, "language": "C"}}]}, ["no path for any test"]),
    ],
)
def test_each_mistake_gives_a_sentence(tmp_path: Path, data: Any, problems: list[str]) -> None:
    found = configured(tmp_path, json.dumps(data))
    assert len(found) >= len(problems)
    assert all(text.startswith(start) for text, start in zip(found, problems, strict=False))


@pytest.mark.parametrize("data", [b"\xff\xfe{", b"[" * 100_000])
def test_binary_data_and_endless_nesting_are_problems(tmp_path: Path, data: bytes) -> None:
    own = tmp_path / "frameworks" / "C" / "one"
    own.mkdir(parents=True)
    (own / "benchmark_config.json").write_bytes(data)
    (target,) = techempower.read(tmp_path)
    assert target.entry is not None
    assert target.entry.problems[0].startswith("benchmark_config.json is not ")


def test_a_folder_with_another_layout_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="contains no frameworks/LANGUAGE/FRAMEWORK/benchmark_config"):
        catalog.load([Path(f"techempower:{tmp_path}")])


def test_an_unknown_layout_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(CatalogError, match=r'unknown layout "techempowr" \(did you mean "techempower"\?\); use techempower:DIR'):
        catalog.load([Path("techempowr:/tmp")])


def test_the_catalog_replaces_the_built_in_targets() -> None:
    known = catalog.load([Path(f"techempower:{CLONE}")])
    assert set(known.targets) == set(TARGETS)
    assert "plaintext" in known.workloads


def test_ids_can_be_completed() -> None:
    completed = ids([Path(f"techempower:{CLONE}")])
    assert {"perl/small/forks", "c++/older/fast"} <= set(completed) <= set(TARGETS)
    assert "c/nginx" not in completed


def test_reading_a_catalog_reads_each_file_once_and_starts_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Listing hundreds of frameworks takes less than 2 s only because httpbench reads a single small file for each of them."""
    read: list[Path] = []

    def counted(path: Path, folder: Path) -> str:
        read.append(path)
        return read_small(path, folder)

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(foreign, "read_small", counted)
    monkeypatch.setattr(subprocess, "Popen", refused)
    techempower.read(CLONE)
    configurations = [path for path in read if path.name in (techempower.CONFIGURATION, techempower.OLDER_CONFIGURATION)]
    assert len(configurations) == len(set(configurations)) == len(list(CLONE.glob("frameworks/*/*")))
    older = [path for path in configurations if path.name == techempower.OLDER_CONFIGURATION]
    tests_of_older = sum(target.folder == str(path.parent) for path in older for target in TARGETS.values())
    assert len(read) - len(configurations) <= tests_of_older, "a Dockerfile is read only for a port that its configuration lacks"
