"""Tests that JUnit XML contains what a CI pipeline needs, in a form that test report readers accept."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from httpbench.analysis.changes import changes
from httpbench.model import Gate, RunStatus, Trial, Verdict, VerdictKind
from httpbench.report import FORMATS
from httpbench.report.data.changes import render_changes_junit
from tests.factories import make_failed, make_mixed_run, make_plan, make_rounds, make_run
from tests.hostile import ALL, PIECES

SLOWER = Gate(figure="rps", side="<", change=-0.03)
STEADY = (100_000, 101_000, 99_000, 100_500)
SLOW = tuple(rate * 0.9 for rate in STEADY)


def suites(text: str) -> list[TestSuite]:
    """Parse JUnit XML as test report readers do."""
    found = JUnitXml.fromstring(text.encode())
    assert isinstance(found, JUnitXml)
    return list(found)


def cases(text: str) -> dict[str, TestCase]:
    return {case.name: case for suite in suites(text) for case in suite}


def problem(case: TestCase) -> tuple[type, str, str] | None:
    """Return the tag, type and message of the problem, or ``None`` if the case passed."""
    (found,) = case.result or (None,)
    return None if found is None else (type(found), found.type, found.message)


def gate_run(head: tuple[float, ...], *more: Trial, status: RunStatus = RunStatus.FINISHED) -> str:
    trials = [*make_rounds("c/old", STEADY), *make_rounds("c/new", head), *more]
    return FORMATS["junit"](make_run(trials, baseline="c/old", gates=(SLOWER,), status=status), trials)


def test_each_row_is_a_case_and_a_row_without_results_is_an_error() -> None:
    run, trials = make_mixed_run()
    first, second = suites(FORMATS["junit"](run, trials))
    assert first.name.startswith("plaintext · target on one core · 64 connections")
    assert (first.tests, first.errors, first.failures, second.tests, second.errors) == (7, 3, 0, 2, 0)
    found = {case.name: case for case in first}
    assert problem(found["c/epoll/level"]) is None
    assert "Requests/s: 409,900" in found["c/epoll/level"].system_out
    assert found["c/epoll/level"].time == 30.0
    assert problem(found["rust/hyper"]) == (Error, "failed", "failed: did not respond within 10 s, in 3 rounds")
    assert "Address in use" in found["rust/hyper"].result[0].text
    assert problem(found["rust/actix-raw"]) == (
        Error,
        "invalid",
        "invalid: 1,204 of 402,113 responses were wrong (unexpected status 1,204), in 3 rounds",
    )
    partly = problem(found["python/gunicorn-meinheld"])
    assert partly is not None and partly[2].startswith("1 of 3 rounds failed or are invalid")


def test_a_gate_passes_fails_or_is_an_error() -> None:
    name = "rps<-3% c/new against c/old, plaintext · target on one core · 64 connections · 10 s"
    assert problem(cases(gate_run(STEADY))[name]) is None
    breached = problem(cases(gate_run(SLOW))[name])
    assert breached is not None and breached[:2] == (Failure, "breached")
    assert breached[2].startswith("BREACHED rps<-3%: c/new against c/old")
    unknown = problem(cases(gate_run(STEADY, make_failed(make_plan("c/new", 4))))[name])
    assert unknown is not None and unknown[:2] == (Error, "unknown")


def test_an_interrupted_run_is_an_error() -> None:
    found = cases(gate_run(STEADY, status=RunStatus.INTERRUPTED))
    assert problem(found["finished"]) == (Error, "interrupted", "interrupted after 8 of 8 trials")


def test_gates_between_two_runs() -> None:
    base, head = make_rounds("c/a", STEADY), make_rounds("c/a", SLOW)
    found = changes((make_run(base), base), (make_run(head), head), [SLOWER])
    (case,) = cases(render_changes_junit(found)).values()
    breached = problem(case)
    assert breached is not None and breached[0] is Failure
    assert breached[2].startswith("BREACHED rps<-3%: c/a, plaintext single -c 64: -10.0%")


def test_counts_match_the_cases() -> None:
    root = ElementTree.fromstring(FORMATS["junit"](*make_mixed_run()))
    for element in (root, *root.findall("testsuite")):
        assert counted(element) == {name: int(element.get(name, "")) for name in ("tests", "errors", "failures", "skipped")}


def counted(element: Element) -> dict[str, int]:
    tags = {"tests": "testcase", "errors": "error", "failures": "failure", "skipped": "skipped"}
    return {name: len(list(element.iter(tag))) for name, tag in tags.items()}


@pytest.mark.parametrize("text", [*PIECES, ALL])
def test_output_with_hostile_text_is_valid_xml(text: str) -> None:
    invalid = Verdict(kind=VerdictKind.INVALID, reasons=(text,))
    trials = [*make_rounds("a/a", (1000,), verdict=invalid), make_failed(make_plan("b/b"), text, text)]
    found = ElementTree.fromstring(FORMATS["junit"](make_run(trials, command=("httpbench", text)), trials))
    assert counted(found)["errors"] == 2
