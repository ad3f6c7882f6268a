"""Tests of the result of h2spec."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.model import Conformance
from httpbench.report.words.checks import conformance_text
from httpbench.run.load.conformance import h2spec, read_report

REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="5.1. Stream States" package="http2/5.1" tests="4" skipped="1" failures="0" errors="2">
    <testcase package="http2/5.1" classname="a" time="1"><error>GOAWAY Frame</error></testcase>
    <testcase package="http2/5.1" classname="b" time="1"><failure>DATA \x00 < & Frame</failure></testcase>
    <testcase package="http2/5.1" classname="c" time="0.1"></testcase>
    <testcase package="http2/5.1" classname="d" time="0.1"><skipped></skipped></testcase>
  </testsuite>
  <testsuite name="4.2. Maximum Table Size" package="hpack/4.2" tests="1" skipped="0" failures="0" errors="1">
    <testcase package="hpack/4.2" classname="e" time="1"><error>GOAWAY Frame</error></testcase>
  </testsuite>
</testsuites>
"""


def test_a_report_is_counted_by_section(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT)
    found = read_report(tmp_path / "report.xml")
    assert found == Conformance(passed=1, failed={"http2/5.1": 2, "hpack/4.2": 1})
    assert conformance_text(found) == "1 of 4 tests passed; failed: hpack/4.2, http2/5.1 (2)"
    assert conformance_text(Conformance(passed=145)) == "145 of 145 tests passed"


def test_messages_may_contain_bytes_of_frames(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_bytes(REPORT.encode().replace(b"GOAWAY Frame", b"opaque_data:h2spec\0\0\xff"))
    assert read_report(tmp_path / "report.xml") == Conformance(passed=1, failed={"http2/5.1": 2, "hpack/4.2": 1})


def test_the_program_is_found_where_go_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("GOBIN", str(tmp_path))
    assert h2spec() is None
    (tmp_path / "h2spec").touch(0o755)
    assert h2spec() == str(tmp_path / "h2spec")
