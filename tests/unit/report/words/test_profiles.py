"""Tests of the text about profiles: what grew, the overhead of the profiler, and the tables at 80 columns."""

from __future__ import annotations

import io
import json
import re

from junitparser import JUnitXml
from rich.console import Console

from httpbench.analysis.changes import changes
from httpbench.analysis.gates import gated
from httpbench.analysis.groups import groups
from httpbench.analysis.profiles import Profiled, grown_in
from httpbench.model import Gate, ProfiledSlice
from httpbench.report import FORMATS
from httpbench.report.data.changes import render_changes_json, render_changes_junit
from httpbench.report.data.json import document
from httpbench.report.html import render_html
from httpbench.report.terminal.changes import render_changes
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words import profiles as words
from httpbench.report.words.columns import View
from httpbench.report.words.gates import change_gate_sentences, run_gate_sentences
from tests.made_profiles import COSTS_US, make_profile, make_profile_of, make_profiled_run

GATE = Gate(figure="rps", side="<", change=-0.03)
GREW = re.compile(r"what grew: parse \+\d+\.\d µs per request \(95% interval \d+\.\d to \d+\.\d\), validate \+")


def printed(renderable: object) -> str:
    output = io.StringIO()
    Console(file=output, width=80).print(renderable)
    return output.getvalue()


def test_what_grew_stands_below_the_first_gate_that_was_breached() -> None:
    run, trials = make_profiled_run(gates=(GATE, GATE.model_copy(update={"figure": "p99", "side": ">"})))
    breached, grew, other = run_gate_sentences(run, gated(run, trials))
    assert breached.startswith("BREACHED rps<-3%: c/b against c/a")
    assert GREW.match(grew)
    assert other.startswith("BREACHED p99")
    assert "what grew" not in printed(render_terminal(run, trials, width=80))
    *_, first, second = (case for suite in JUnitXml.fromstring(FORMATS["junit"](run, trials).encode()) for case in suite)
    assert GREW.search(first.result[0].text)
    assert "what grew" not in second.result[0].text


def test_the_json_of_a_run_has_the_changes_between_its_profiles() -> None:
    run, trials = make_profiled_run()
    (found,) = document(run, trials).profile_changes
    assert (found.baseline, found.target) == ("c/a", "c/b")
    first, *_, last = found.functions
    assert (first.function, last.function) == ("parse", "malloc")
    assert 0 < first.low_us < first.head_us - first.base_us < first.high_us


def test_a_comparison_without_gates_says_what_grew_and_what_shrank() -> None:
    run, trials = make_profiled_run()
    text = " ".join(printed(render_terminal(run, trials, width=80)).split())
    assert GREW.search(text)
    assert re.search(r"what shrank: malloc -\d\.\d µs per request \(95% interval -\d\.\d to -\d\.\d\)", text)


def test_two_runs_of_one_target_say_what_grew() -> None:
    run, trials = make_profiled_run()
    base, head = ([trial for trial in trials if trial.plan.target == name] for name in ("c/a", "c/b"))
    renamed = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"target": "c/a"})}) for trial in head]
    before, after = [
        (run.model_copy(update={"profiles": (profile.model_copy(update={"target": "c/a"}),), "targets": {"c/a": run.targets["c/a"]}}), own)
        for profile, own in zip(run.profiles, (base, renamed), strict=True)
    ]
    found = changes(before, after, [GATE])
    assert GREW.match([*change_gate_sentences(found)][1])
    assert "what grew: parse" in render_changes_junit(found)
    (exported,) = json.loads(render_changes_json(found))["profile_changes"]
    assert exported["functions"][0]["function"] == "parse"
    assert "what grew: parse" in printed(render_changes(changes(before, after), width=80))


def test_nothing_significant_and_too_few_slices() -> None:
    run, trials = make_profiled_run()
    same = run.model_copy(update={"profiles": (run.profiles[0], run.profiles[0].model_copy(update={"target": "c/b"}))})
    assert [*words.what_changed(grown_in(same)[0])] == ["what grew: no function's CPU time per request grew significantly"]
    short = [profile.model_copy(update={"slices": profile.slices[:2]}) for profile in same.profiles]
    (sentence,) = words.what_changed(grown_in(same.model_copy(update={"profiles": tuple(short)}))[0])
    assert sentence == "what grew: unknown, because the profiles have fewer than 3 slices with samples"
    assert words.overhead_text(Profiled(run.profiles[0]), groups(run, trials)) == (
        "Throughput while profiled: 3.1% lower than in the rounds that count."
    )


def test_the_terminal_lists_ten_functions_within_80_columns() -> None:
    long = f"main;{'std::vector<char>::' * 10}insert"
    run, trials = make_profiled_run({long: 20.0})
    empty = make_profile_of([ProfiledSlice(requests=0, cpu_s=0, stacks={})], target="c/b", load=trials[0].plan.load)
    run = run.model_copy(update={"profiles": (run.profiles[0], empty)})
    text = printed(render_terminal(run, trials, width=80, view=View(explain=True)))
    below = text[text.index("Functions of c/a") :]
    assert max(map(len, below.splitlines())) <= 80
    assert len(re.findall(r" \d+\.\d +\d+\.\d$", below, re.MULTILINE)) == 10
    assert re.search(r"^std::vector.*….*::insert +user +\d", below, re.MULTILINE)
    assert "Functions of c/b, plaintext single -c 64" in below
    assert words.EMPTY in below


def test_a_page_with_two_large_profiles_stays_small_and_has_no_script_without_profiles() -> None:
    deep = {
        f"main;{';'.join(f'module_{number % 40}::function_{number}_{level}' for level in range(30))}": 0.05 + number / 2000
        for number in range(400)
    }
    run, trials = make_profiled_run(deep)
    assert sum(Profiled(make_profile({**COSTS_US, **deep}, 1)).shares.values()) > 0.999
    page = render_html(run, trials)
    assert len(page.encode()) < 2_000_000
    assert page.count("<rect/>") <= 3 * 2001
    assert page.count("script-src") == page.count("<script>") == 1
    plain = render_html(run.model_copy(update={"profiles": ()}), trials)
    assert "script-src" not in plain
    assert "<script" not in plain
