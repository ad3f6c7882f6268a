"""JUnit XML for systems that show test reports: a test case for each table row and for each gate.

A failure is a breached gate (exit code 3). An error is anything that causes exit code 1: a row without results or with invalid rounds, a
gate that could not be judged, or an interrupted run. An inconclusive gate is reported as skipped, or as an error with
``--fail-if-inconclusive``. No standard defines the format, so the output contains only elements and attributes that Jenkins and
GitLab read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from httpbench.analysis.changes import ChangeGate
from httpbench.analysis.gates import RunGate, gated
from httpbench.analysis.groups import groups
from httpbench.analysis.profiles import Grown, grown_in
from httpbench.analysis.rows import Row
from httpbench.model import Run, RunStatus, Search, Trial, VerdictKind
from httpbench.report.words import curves, loads
from httpbench.report.words.columns import Column, columns
from httpbench.report.words.gates import gate_place, gate_sentence, with_growth
from httpbench.report.words.numbers import plural
from httpbench.report.words.reasons import joined, sentence
from httpbench.report.words.targets import label
from httpbench.stats.gates import Passage, lost_rounds
from httpbench.stats.level import saturation
from httpbench.text import one_line, printable

GATES = "gates"
"""Name of the test suite that contains the gates."""


Tag = Literal["failure", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Problem:
    """The reason why a case did not pass."""

    tag: Tag
    kind: str
    message: str
    details: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A test case."""

    name: str
    seconds: float = 0.0
    problem: Problem | None = None
    output: str = ""


@dataclass(frozen=True, slots=True)
class JUnitSuite:
    """A test suite: one table, or all gates."""

    name: str
    cases: Sequence[Case]


def render_junit(run: Run, trials: Sequence[Trial]) -> str:
    """Render a run. The text ends with a line break."""
    environment = run.environment
    properties = {
        "run": run.id,
        "command": " ".join(run.command),
        "httpbench_version": environment.httpbench_version,
        "git_commit": environment.git_commit or "",
        "hostname": environment.hostname,
        "cpu_model": environment.cpu_model,
        "kernel": environment.kernel,
    }
    return document(list(_suites(run, trials)), run.started_at, properties)


def document(suites: Sequence[JUnitSuite], started_at: str, properties: Mapping[str, str]) -> str:
    """Render the suites as XML. ``started_at`` is in UTC, as ISO 8601."""
    root = Element("testsuites", {"name": "httpbench", **_counts([case for suite in suites for case in suite.cases])})
    for suite in suites:
        named = {"name": printable(suite.name), **_counts(suite.cases)}
        element = SubElement(root, "testsuite", {**named, "timestamp": started_at[:19]})
        listed = SubElement(element, "properties")
        for name, value in properties.items():
            SubElement(listed, "property", {"name": name, "value": one_line(value)})
        for case in suite.cases:
            _add(element, suite, case)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def gate_suite(gates: Iterable[RunGate | ChangeGate], grown: Sequence[Grown], *, fails_if_inconclusive: bool) -> JUnitSuite:
    """Make the suite of all gates. The details of a breached gate say what grew in its target, if it was profiled."""
    return JUnitSuite(GATES, [_gate_case(judged, growth, fails_if_inconclusive) for judged, growth in with_growth(gates, grown)])


def _gate_case(judged: RunGate | ChangeGate, growth: str | None, fails_if_inconclusive: bool) -> Case:
    name, sentence = f"{judged.gate} {gate_place(judged)}", gate_sentence(judged)
    if judged.passage is Passage.PASSED:
        return Case(name, output=sentence)
    tags: dict[Passage, Tag] = {Passage.BREACHED: "failure", Passage.INCONCLUSIVE: "error" if fails_if_inconclusive else "skipped"}
    details = f"{sentence}\n{growth}" if growth else ""
    return Case(name, problem=Problem(tags.get(judged.passage, "error"), judged.passage, sentence, details))


def _suites(run: Run, trials: Sequence[Trial]) -> Iterator[JUnitSuite]:
    """Yield a suite for each table, one for all gates, and one for an interrupted run."""
    if run.search and trials:
        yield _of_search(run.search, run, trials)
    elif not run.search:
        found = groups(run, trials)
        every = columns(found, run.table)
        yield from (JUnitSuite(loads.title(group), [_of_row(row, every) for row in group.rows]) for group in found)
    if judged := gated(run, trials):
        yield gate_suite(judged, grown_in(run), fails_if_inconclusive=run.fails_if_inconclusive)
    if run.status is RunStatus.INTERRUPTED:
        made = sum(trial.plan.attempt == 0 for trial in trials)
        message = f"interrupted after {plural(made, 'trial')}" if run.search else f"interrupted after {made} of {len(run.plan)} trials"
        yield JUnitSuite("run", [Case("finished", problem=Problem("error", run.status, message))])


def _of_search(search: Search, run: Run, trials: Sequence[Trial]) -> JUnitSuite:
    """Make the test suite of a search, which passes if the search found a rate."""
    result, plan = saturation(search, trials), trials[0].plan
    sentences = curves.sentences(search, result, trials)
    problem = Problem("error", "no rate holds", sentences[0]) if result.rate_rps is None else None
    return JUnitSuite(curves.title(run, trials), [Case(plan.target, _measured_s(trials), problem, "\n".join(sentences))])


def _of_row(row: Row, every: Sequence[Column]) -> Case:
    figures = [(column.heading, column.text(row)) for column in every]
    output = "\n".join(f"{heading}: {text}" for heading, text in figures if text)
    return Case(label(row.target), _measured_s(row.attempts), _problem_of_row(row), output)


def _problem_of_row(row: Row) -> Problem | None:
    """Return a problem if a row has no results, or if any of its rounds failed or is invalid, else ``None``."""
    if not row.counts:
        verdict = row.summary.verdict
        return Problem("error", verdict.kind, f"{verdict.kind}: {joined(verdict.reasons)}", row.log_tail or "")
    if lost := lost_rounds(row.trials):
        return Problem("error", VerdictKind.INVALID, sentence(lost), row.log_tail or "")
    return None


def _measured_s(trials: Sequence[Trial]) -> float:
    """Return the total measured time in seconds, without warm-ups."""
    measured = sum(trial.measurement.duration_s for trial in trials if trial.measurement)
    return measured + sum(trial.client.whole.wall_s for trial in trials if trial.client)


def _add(suite: Element, of: JUnitSuite, case: Case) -> None:
    named = {"classname": printable(of.name), "name": one_line(case.name), "time": f"{case.seconds:.3f}"}
    element = SubElement(suite, "testcase", named)
    if case.problem:
        described = {"type": case.problem.kind, "message": one_line(case.problem.message)}
        SubElement(element, case.problem.tag, described).text = printable(case.problem.details or case.problem.message)
    if case.output:
        SubElement(element, "system-out").text = printable(case.output)


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    tags = [case.problem.tag for case in cases if case.problem]
    numbers = {"tests": len(cases), "failures": tags.count("failure"), "errors": tags.count("error"), "skipped": tags.count("skipped")}
    return {**{name: str(number) for name, number in numbers.items()}, "time": f"{sum(case.seconds for case in cases):.3f}"}
