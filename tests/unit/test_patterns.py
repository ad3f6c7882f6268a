"""Tests that no regular expression takes time that grows faster than the text, which may come from strangers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.growth import Pattern, patterns, slow_text

ROOT = Path(__file__).parents[2]
FOUND = [pattern for folder in ("src", "comment") for pattern in patterns(ROOT, ROOT / folder)]
AT_RUN_TIME = {"isolate/ssh.py", "load/h2load.py", "load/perf_gauge.py", "web/site.py"}
"""Modules that call ``re`` with a pattern from a variable. The patterns, read by hand, take linear time."""


def test_the_time_grows_at_most_linearly() -> None:
    known = [pattern for pattern in FOUND if pattern.text is not None]
    assert len(known) > 100
    assert {pattern.place: slow for pattern in known if (slow := slow_text(pattern)) is not None} == {}


def test_few_patterns_are_known_only_at_run_time() -> None:
    unknown = {pattern.place.partition(":")[0].removeprefix("src/httpbench/") for pattern in FOUND if pattern.text is None}
    assert unknown == AT_RUN_TIME


@pytest.mark.parametrize(
    ("text", "method"),
    [
        (r"\d+(\.\d+)+", "search"),
        (r"^(.+?)\s*$", "search"),
        (r"a(.*?) \((.*)\)", "fullmatch"),
        (r"<case>(.*?)</case>", "finditer"),
        (rb"([0-9a-f]+)(?:;[^\n]*)?\n", "search"),
        (r"(?:\.(?:part|isra)(?:\.\d+)*)+$", "search"),
    ],
)
def test_quadratic_patterns_are_found(text: str | bytes, method: str) -> None:
    assert slow_text(Pattern("here", text, method))


@pytest.mark.parametrize(("text", "method"), [(r"(?<!\d)\d+(\.\d+)+", "search"), (r"\d+(\.\d+)+", "match"), (r"^(.*\S)", "search")])
def test_linear_patterns_are_not(text: str, method: str) -> None:
    assert slow_text(Pattern("here", text, method)) is None


def test_flags_count() -> None:
    """With this flag, each empty line is a beginning."""
    pattern = r"^\s*FROM\s+\S"
    assert slow_text(Pattern("here", pattern, "search")) is None
    assert slow_text(Pattern("here", pattern, "search", re.MULTILINE))


def test_patterns_are_found_in_sources(tmp_path: Path) -> None:
    source = 'import re\nA = "a+"\nB = re.compile(rf"{A}b")\nB.match("")\nre.sub(A, "", "")\n'
    source += 're.search(f"{who}+", "", re.M | re.S)\nre.split(who, "")\n'
    (tmp_path / "module.py").write_text(source, encoding="utf-8")
    found = {(each.place, each.text, each.method, each.flags) for each in patterns(tmp_path, tmp_path)}
    assert found == {
        ("module.py:3", "a+b", "match", 0),
        ("module.py:5", "a+", "finditer", 0),
        ("module.py:6", "x+", "search", re.M | re.S),
        ("module.py:7", None, "finditer", 0),
    }
