"""Tests of the folders of the database systems: scripts, tables, and the data built from them."""

from __future__ import annotations

import subprocess

import pytest

from httpbench.databases import SYSTEMS, System
from httpbench.databases.systems import counts
from httpbench.http.fortunes import MESSAGES
from httpbench.model import Database
from httpbench.model.entry import PROVIDED

EACH = pytest.mark.parametrize("system", SYSTEMS.values(), ids=str)


def test_every_database_that_targets_may_require_exists() -> None:
    assert set(SYSTEMS) == set(PROVIDED)


@EACH
def test_the_scripts_exist_and_are_valid_shell(system: System) -> None:
    for name in ("initialise.sh", "serve.sh", "ask.sh", "version.sh"):
        subprocess.run(["sh", "-n", str(system.folder / name)], check=True)
    assert (system.folder / "Dockerfile").is_file()


@EACH
def test_the_fortunes_are_those_required_by_the_rules(system: System) -> None:
    text = (system.folder / "tables.sql").read_text(encoding="utf-8")
    for number, message in MESSAGES.items():
        assert f"({number}, '{message.replace(chr(39), chr(39) * 2)}')" in text


@EACH
def test_the_data_is_built_once(system: System) -> None:
    target = system.target
    assert target.is_declared
    assert target.build.artifacts == ("data",)
    assert target.requires[0].apt


def test_the_output_of_a_database_is_parsed() -> None:
    found = counts("12\t7\t3\t5\n")
    assert (found.read, found.scanned, found.written, found.selects) == (12, 7, 3, 5)


@EACH
def test_the_counters_query_has_no_placeholders_left(system: System) -> None:
    query = system.counting(("fortune", "world"))
    assert "{" not in query
    if system.name is Database.POSTGRES:
        assert r"\m(fortune|world)\M" in query
        assert "('fortune', 'world')" in query


def test_the_url_contains_the_names_that_frameworks_expect() -> None:
    assert SYSTEMS[Database.POSTGRES].url("127.0.0.9", 5432) == "postgres://benchmarkdbuser:benchmarkdbpass@127.0.0.9:5432/hello_world"
