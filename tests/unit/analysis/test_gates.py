"""Tests of gates within one run: a row that failed or was not measured passes no gate."""

from __future__ import annotations

import json
from typing import Any

from httpbench.analysis.gates import gated
from httpbench.analysis.groups import groups
from httpbench.model import Gate, Measurement, RunStatus, Stalls, Trial, Verdict, VerdictKind
from httpbench.report import FORMATS
from httpbench.report.data.json import render_json
from httpbench.report.words.claims import claims
from httpbench.report.words.gates import gate_sentence
from httpbench.stats.gates import Passage
from tests.factories import make_distribution, make_failed, make_measurement, make_plan, make_rounds, make_run, make_trial

SLOWER = Gate(figure="rps", side="<", change=-0.03)
STEADY = (100_000, 101_000, 99_000, 100_500)


def judged(trials: list[Trial], baseline: str = "c/old") -> list[tuple[Passage, str]]:
    found = gated(make_run(trials, baseline=baseline, gates=(SLOWER,)), trials)
    return [(each.passage, gate_sentence(each)) for each in found]


def test_a_gate_passes_if_every_round_is_valid() -> None:
    ((kind, _),) = judged([*make_rounds("c/old", STEADY), *make_rounds("c/new", STEADY)])
    assert kind is Passage.PASSED


def test_a_gate_is_unknown_if_one_round_of_the_target_failed() -> None:
    crashed = make_failed(make_plan("c/new", 4), "exited with status 139")
    for rates in (STEADY, [rate / 2 for rate in STEADY]):
        ((kind, sentence),) = judged([*make_rounds("c/old", STEADY), *make_rounds("c/new", rates), crashed])
        assert kind is Passage.UNKNOWN
        assert sentence.startswith("NOT JUDGED rps<-3%: c/new against c/old, plaintext")
        assert sentence.endswith(": 1 of 5 rounds failed or are invalid: exited with status 139")


def test_a_gate_is_unknown_if_the_baseline_was_not_measured() -> None:
    ((kind, sentence),) = judged(make_rounds("c/new", STEADY))
    assert kind is Passage.UNKNOWN
    assert sentence.endswith("the baseline c/old was not measured")


def test_a_gate_is_inconclusive_if_the_interval_contains_its_bound() -> None:
    slower = [rate * factor for rate, factor in zip(STEADY, (0.95, 0.99, 0.96, 0.98), strict=True)]
    ((kind, sentence),) = judged([*make_rounds("c/old", STEADY), *make_rounds("c/new", slower)])
    assert kind is Passage.INCONCLUSIVE
    assert sentence.startswith("INCONCLUSIVE rps<-3%: c/new against c/old, plaintext")
    assert sentence.endswith(" rounds would be required")


def test_a_gate_is_unknown_if_the_baseline_lost_rounds() -> None:
    crashed = make_failed(make_plan("c/old", 4), "exited with status 139")
    ((kind, _),) = judged([*make_rounds("c/old", STEADY), *make_rounds("c/new", STEADY), crashed])
    assert kind is Passage.UNKNOWN


GENERATOR = Verdict(kind=VerdictKind.GENERATOR)


def test_a_gate_on_a_bound_is_decided_only_on_the_other_side() -> None:
    """The baseline may be far faster than its lower bound, so an equal target proves nothing, and a slower one is slower in any case."""
    bound = make_rounds("c/old", STEADY, verdict=GENERATOR)
    ((kind, sentence),) = judged([*bound, *make_rounds("c/new", STEADY)])
    assert kind is Passage.INCONCLUSIVE
    assert sentence.endswith("; a result is only a bound, because something other than the target was full")
    ((kind, _),) = judged([*bound, *make_rounds("c/new", [rate * 0.9 for rate in STEADY])])
    assert kind is Passage.BREACHED
    limited = make_rounds("c/new", [rate * 0.9 for rate in STEADY], verdict=GENERATOR)
    ((kind, _),) = judged([*make_rounds("c/old", STEADY), *limited])
    assert kind is Passage.INCONCLUSIVE


def test_a_gate_on_shared_cores_does_not_pass_on_a_small_difference() -> None:
    shared = {"cores": make_plan().cores.model_copy(update={"shared": True})}
    slightly = [rate * 0.98 for rate in STEADY]
    ((kind, sentence),) = judged([*make_rounds("c/old", STEADY, plan=shared), *make_rounds("c/new", slightly, plan=shared)])
    assert kind is Passage.INCONCLUSIVE
    assert "so the difference may be larger than measured" in sentence
    much = [rate * 0.9 for rate in STEADY]
    ((kind, _),) = judged([*make_rounds("c/old", STEADY, plan=shared), *make_rounds("c/new", much, plan=shared)])
    assert kind is Passage.BREACHED


def test_a_gate_on_a_p99_that_hides_stalls_does_not_pass() -> None:
    stalls = Stalls(count=5, longest_us=2_000_000, total_us=4_000_000)
    old = [make_trial(make_plan("c/old", n), measurement=with_p99(400 + n)) for n in range(5)]
    new = [make_trial(make_plan("c/new", n), measurement=with_p99(300 + n, stalls=stalls)) for n in range(5)]
    gate = Gate(figure="p99", side=">", change=0.1)
    (found,) = gated(make_run([*old, *new], baseline="c/old", gates=(gate,)), [*old, *new])
    assert found.passage is Passage.INCONCLUSIVE
    assert gate_sentence(found).endswith("; a closed loop hides stalls, which `--rate` would show")


def test_a_gate_on_p99_does_not_pass_if_the_load_generator_reports_no_stalls() -> None:
    old, new = (
        [make_trial(make_plan(name, n), measurement=with_p99(p99_us + n, stalls=None)) for n in range(5)]
        for name, p99_us in (("c/old", 400), ("c/new", 300))
    )
    run = make_run([*old, *new], baseline="c/old", gates=(Gate(figure="p99", side=">", change=0.1),))
    (found,) = gated(run, [*old, *new])
    assert found.passage is Passage.INCONCLUSIVE
    assert gate_sentence(found).endswith("; a closed loop hides stalls, which this load generator does not report")
    assert not any("p99 is 0.7" in line for line in claims(run, groups(run, [*old, *new])[0]))


def with_p99(p99_us: float, **changes: Any) -> Measurement:
    return make_measurement(service_time_us=make_distribution(p99=p99_us), **changes)


def test_json_has_the_outcome_and_reason_of_each_gate() -> None:
    never = Gate(figure="rps", side="<", change=-0.99)
    crashed = make_failed(make_plan("c/new", 4), "exited with status 139")
    trials = [*make_rounds("c/old", STEADY), *make_rounds("c/new", STEADY), crashed, *make_rounds("c/other", STEADY)]
    run = make_run(trials, baseline="c/old", gates=(never,))
    unknown, passed = json.loads(render_json(run, trials))["gates"]
    assert (unknown["target"], unknown["passage"]) == ("c/new", "unknown")
    assert unknown["reason"] == "1 of 5 rounds failed or are invalid: exited with status 139"
    assert (passed["target"], passed["passage"], passed["reason"]) == ("c/other", "passed", None)
    assert passed["interval"]["low"] > 0.9
    interrupted = run.model_copy(update={"status": RunStatus.INTERRUPTED})
    assert json.loads(render_json(interrupted, trials))["gates"] == []


def test_markdown_starts_with_the_gates() -> None:
    crashed = make_failed(make_plan("c/other", 4), "exited with status 139")
    trials = [*make_rounds("c/old", STEADY), *make_rounds("c/new", [rate / 2 for rate in STEADY]), *make_rounds("c/other", STEADY), crashed]
    text = FORMATS["markdown"](make_run(trials, baseline="c/old", gates=(SLOWER,)), trials)
    lines = text.splitlines()
    assert lines[0] == "### Gates"
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:6]]
    assert cells[0] == ["Gate", "Result", "Change", "95% interval", "Where"]
    unknown, breached = cells[2:]
    assert breached[:3] == ["rps&lt;-3%", "breached", "-50.0%"] and " to " in breached[3]
    assert unknown[:4] == ["rps&lt;-3%", "unknown", "", ""]
    assert "- NOT JUDGED rps&lt;-3%: c/other against c/old" in text
