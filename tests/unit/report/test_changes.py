"""What changed from one run to another: cells, verdicts, environments, gates; and runs read back from their export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from httpbench.errors import UsageError
from httpbench.model import Expectation, Load, Run, Trial, Verdict, VerdictKind, Workload
from httpbench.report import changes, read_export, render_changes_json, render_changes_markdown
from httpbench.report.environments import differences, toolchains
from httpbench.report.json import render_json
from httpbench.stats.gates import Gate
from tests.factories import make_client, make_environment, make_mixed_run, make_plan, make_rounds, make_run, make_trial

SLOWER = Gate(figure="rps", side="<", change=-0.03)


def measured(*rows: list[Trial], **changed: Any) -> tuple[Run, list[Trial]]:
    trials = [trial for row in rows for trial in row]
    numbered = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"number": n})}) for n, trial in enumerate(trials)]
    return make_run(numbered, **changed), numbered


def test_each_cell_has_ratios_intervals_and_both_verdicts() -> None:
    generator = Verdict(kind=VerdictKind.GENERATOR, reasons=("the generator was busy and the target was not",))
    base = measured(make_rounds("c/a", (100_000, 101_000, 99_000)), make_rounds("c/b", (50_000, 50_500, 50_100)))
    head = measured(make_rounds("c/a", (90_000, 90_500, 89_500)), make_rounds("c/b", (50_200, 50_300, 50_400), verdict=generator))
    found = changes(base, head, [SLOWER])
    one, two = found.cells
    assert (one.target, one.verdict_base, one.verdict_head) == ("c/a", "target", "target")
    assert one.figures["rps"].ratio == pytest.approx(0.9, abs=0.001)
    assert one.figures["rps"].differs
    assert not two.figures["rps"].differs
    assert [judged.passage for judged in found.gates] == ["breached", "passed"]
    text = render_changes_markdown(found)
    assert "BREACHED rps&lt;-3%: c/a, plaintext single -c 64: -10.0%" in text
    assert "the verdict of c/b, plaintext single -c 64, changed from target to generator: the generator was busy" in text
    assert "The load generator was the limit, so figures are not the target's alone: c/b" in text
    assert '"schema": "httpbench-changes/1"' in render_changes_json(found)


def test_what_does_not_count_any_more_cannot_pass_a_gate() -> None:
    invalid = Verdict(kind=VerdictKind.INVALID, reasons=("1 of 10 answers were wrong",))
    base = measured(make_rounds("c/a", (100_000, 101_000, 99_000)))
    head = measured(make_rounds("c/a", (100_000, 101_000, 99_000), verdict=invalid))
    found = changes(base, head, [SLOWER])
    assert found.unknown
    assert not found.breached
    assert "NOT JUDGED rps&lt;-3%: c/a, plaintext single -c 64: a run has no round that counts" in render_changes_markdown(found)


def test_a_gate_on_the_memory_of_clients_is_judged() -> None:
    def clients(*megabytes: int) -> tuple[Run, list[Trial]]:
        made = [make_client(0.5, rss_bytes_peak=size * 1_000_000) for size in megabytes]
        plans = [make_plan("c/a", round_) for round_ in range(len(made))]
        pairs = zip(plans, made, strict=True)
        return measured([make_trial(plan, measurement=None, target_usage=None, client=client) for plan, client in pairs])

    found = changes(clients(10, 10, 10), clients(20, 20, 20), [Gate(figure="memory", side=">", change=0.1)])
    assert [judged.passage for judged in found.gates] == ["breached"]


def test_only_what_is_alike_is_compared() -> None:
    other = {"load": Load(connections=8)}
    base = measured(make_rounds("c/a", (1000, 1010, 1020)), make_rounds("c/gone", (1000, 1010, 1020)))
    head = measured(make_rounds("c/a", (1000, 1010, 1020), plan=other))
    found = changes(base, head)
    assert found.cells == ()
    assert found.not_compared == (
        "c/a (plaintext, 64 connections) is in base alone, under this load",
        "c/gone (plaintext, 64 connections) is in base alone",
        "c/a (plaintext, 8 connections) is in head alone, under this load",
    )


def test_a_workload_that_expects_something_else_is_another_one() -> None:
    stricter = {"plaintext": Workload(name="plaintext", description="Hello, World!", expect=Expectation(body="Hello"))}
    rounds = make_rounds("c/a", (1000, 1010, 1020))
    assert changes(measured(rounds), measured(rounds, workloads=stricter)).cells == ()


def test_with_a_rate_throughput_says_nothing() -> None:
    offered = {"load": Load(connections=64, rate_rps=1000)}
    run = measured(make_rounds("c/a", (1000, 1000, 1000), plan=offered))
    found = changes(run, run, [SLOWER])
    assert "rps" not in found.cells[0].figures
    assert "p99" in found.cells[0].figures
    assert found.unknown


@pytest.mark.parametrize(
    ("field", "value", "phrase"),
    [
        ("kernel", "6.9", "kernel (6.1.0-28-amd64 → 6.9)"),
        ("turbo", True, "turbo ("),
        ("cpus_allowed", (0, 1), "processors allowed ("),
        ("mitigations", {"spectre_v2": "Vulnerable"}, "mitigations (spectre_v2"),
        ("memory_bytes", 1, "memory ("),
        ("cpu_quota_cores", 2.0, "CPU quota (none → 2.0)"),
    ],
)
def test_what_differs_between_environments_is_named(field: str, value: object, phrase: str) -> None:
    base = make_environment(turbo=False)
    (found,) = differences(base, base.model_copy(update={field: value}))
    assert found.startswith(phrase)


def test_what_may_be_compared_is_no_difference() -> None:
    base = make_environment()
    head = base.model_copy(update={"git_commit": "f" * 40, "load_average_1m": 9.0, "versions": {**base.versions, "go": "1.27"}})
    assert differences(base, head) == []
    assert toolchains(base, head) == [f"go {base.versions['go']} → 1.27"]


def test_names_of_containers_are_made_up_anew_each_time() -> None:
    base = make_environment(container="docker", hostname="d34db33f")
    assert differences(base, base.model_copy(update={"hostname": "c0ffee"})) == []


def test_an_export_is_read_back_as_it_was(tmp_path: Path) -> None:
    run, trials = make_mixed_run()
    Path(tmp_path, "run.json").write_text(render_json(run, trials))
    again, read = read_export(Path(tmp_path, "run.json"))
    bare = {"probed"}  # exported once for each target
    assert [trial.model_dump(exclude=bare) for trial in read] == [trial.model_dump(exclude=bare) for trial in trials]
    assert (again.id, again.environment, again.workloads) == (run.id, run.environment, run.workloads)
    assert render_json(again, read) == render_json(run, trials)


@pytest.mark.parametrize(("text", "place"), [("{}", "run"), ("no", "the file"), ('{"schema": "httpbench/9"}', "schema")])
def test_what_is_no_export_is_said(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=f"is not a JSON export of a run that this version can read: {place}"):
        read_export(path)
