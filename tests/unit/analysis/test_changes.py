"""Tests of changes from one run to another: cells, verdicts, environments and gates, including runs that were read from an export."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from httpbench.analysis.changes import Changes, changes
from httpbench.model import Engine, Expectation, Gate, Isolation, Load, Run, Trial, Verdict, VerdictKind, Workload
from httpbench.report.data.changes import render_changes_json
from httpbench.report.markdown.changes import render_changes_markdown
from httpbench.report.terminal.changes import render_changes
from httpbench.report.words.changes import mismatch_text, not_compared
from httpbench.report.words.columns import View
from httpbench.report.words.gates import gate_reason
from httpbench.report.words.loads import place
from tests.factories import make_client, make_failed, make_plan, make_rounds, make_run, make_target, make_trial

SLOWER = Gate(figure="rps", side="<", change=-0.03)


def measured(*rows: list[Trial], **changed: Any) -> tuple[Run, list[Trial]]:
    trials = [trial for row in rows for trial in row]
    numbered = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"number": n})}) for n, trial in enumerate(trials)]
    return make_run(numbered, **changed), numbered


def shown(found: Changes, width: int = 300, view: View | None = None) -> str:
    output = io.StringIO()
    Console(width=width, file=output).print(render_changes(found, width=width, view=view))
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines())


def test_each_cell_has_ratios_intervals_and_both_verdicts() -> None:
    generator = Verdict(kind=VerdictKind.GENERATOR, reasons=("generator-bound",))
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
    assert "verdict of c/b, plaintext single -c 64, changed from target to generator: generator-bound" in text
    assert "Limited by something other than the target, which may be faster than measured: c/b" in text
    assert '"schema": "httpbench-changes/1"' in render_changes_json(found)


def test_a_row_that_no_longer_counts_cannot_pass_a_gate() -> None:
    invalid = Verdict(kind=VerdictKind.INVALID, reasons=("1 of 10 responses were wrong",))
    base = measured(make_rounds("c/a", (100_000, 101_000, 99_000)))
    head = measured(make_rounds("c/a", (100_000, 101_000, 99_000), verdict=invalid))
    found = changes(base, head, [SLOWER])
    assert found.undecided
    assert not found.breached
    assert (
        "NOT JUDGED rps&lt;-3%: c/a, plaintext single -c 64: in head 3 of 3 rounds failed or are invalid: 1 of 10 responses"
        in render_changes_markdown(found)
    )


@pytest.mark.parametrize("side", ["base", "head"])
def test_a_run_that_lost_many_rounds_is_not_compared(side: str) -> None:
    invalid = Verdict(kind=VerdictKind.INVALID, reasons=("7 responses were wrong",))
    whole = make_rounds("c/a", [100_000.0 + n for n in range(10)])
    survivors = [*make_rounds("c/a", [110_000.0] * 5), *make_rounds("c/a", [90_000.0] * 10, verdict=invalid)[5:]]
    rows = {"base": whole, "head": whole, side: survivors}
    found = changes(measured(rows["base"]), measured(rows["head"]), [SLOWER])
    assert found.cells[0].figures == {}
    assert found.undecided and not found.breached
    reason = f"in {side} 5 of 10 rounds failed or are invalid: 7 responses were wrong"
    assert [gate_reason(judged) for judged in found.gates] == [reason]
    assert f"Not compared: c/a, plaintext single -c 64: {reason}" in shown(found)


def test_a_gate_is_unknown_if_one_round_of_head_failed() -> None:
    base = measured(make_rounds("c/a", (100_000, 101_000, 99_000, 100_000)), make_rounds("c/b", (50_000, 50_500, 50_100)))
    crashed = make_failed(make_plan("c/a", 3), "exited with status 139")
    head = measured([*make_rounds("c/a", (100_000, 101_000, 99_000)), crashed], make_rounds("c/b", (50_000, 50_500, 50_100)))
    found = changes(base, head, [SLOWER])
    reason = "in head 1 of 4 rounds failed or are invalid: exited with status 139"
    assert [(judged.passage, gate_reason(judged)) for judged in found.gates] == [("unknown", reason), ("passed", None)]
    assert found.undecided
    sentence = f"NOT JUDGED rps&lt;-3%: c/a, plaintext single -c 64: {reason}"
    assert sentence in render_changes_markdown(found)
    assert sentence.replace("&lt;", "<") in shown(found)
    assert reason in render_changes_json(found)


def test_a_breach_with_failed_rounds_is_unknown() -> None:
    base = measured(make_rounds("c/a", (100_000, 101_000, 99_000)))
    head = measured([*make_rounds("c/a", (50_000, 50_100, 50_200)), make_failed(make_plan("c/a", 3))])
    found = changes(base, head, [SLOWER])
    assert (found.undecided, found.breached) == (True, False)


def test_a_single_failed_round_of_base_does_not_affect_the_gate() -> None:
    base = measured([*make_rounds("c/a", (100_000, 101_000, 99_000) * 2), make_failed(make_plan("c/a", 6))])
    assert not changes(base, measured(make_rounds("c/a", (100_000, 101_000, 99_000))), [SLOWER]).undecided


def test_a_gate_is_unknown_for_a_target_that_head_lacks() -> None:
    base = measured(make_rounds("c/a", (1000, 1010, 1020)), make_rounds("c/gone", (1000, 1010, 1020)))
    found = changes(base, measured(make_rounds("c/a", (1000, 1010, 1020))), [SLOWER])
    reason = "head lacks this target under this load"
    assert [(place(judged.at), judged.passage, gate_reason(judged)) for judged in found.gates] == [
        ("c/a, plaintext single -c 64", "passed", None),
        ("c/gone, plaintext single -c 64", "unknown", reason),
    ]
    sentence = f"NOT JUDGED rps<-3%: c/gone, plaintext single -c 64: {reason}"
    assert sentence in shown(found)
    assert sentence.replace("<", "&lt;") in render_changes_markdown(found)
    assert reason in render_changes_json(found)
    assert not changes(measured(make_rounds("c/a", (1000, 1010, 1020))), base, [SLOWER]).undecided, (
        "a target that is new in head has no base"
    )


def test_a_gate_on_the_memory_of_clients_is_judged() -> None:
    def clients(*megabytes: int) -> tuple[Run, list[Trial]]:
        made = [make_client(0.5, rss_bytes_peak=size * 1_000_000) for size in megabytes]
        plans = [make_plan("c/a", round_) for round_ in range(len(made))]
        pairs = zip(plans, made, strict=True)
        return measured([make_trial(plan, measurement=None, target_usage=None, client=client) for plan, client in pairs])

    found = changes(clients(10, 10, 10), clients(20, 20, 20), [Gate(figure="memory", side=">", change=0.1)])
    assert [judged.passage for judged in found.gates] == ["breached"]


def test_only_matching_cells_are_compared() -> None:
    other = {"load": Load(connections=8)}
    base = measured(make_rounds("c/a", (1000, 1010, 1020)), make_rounds("c/gone", (1000, 1010, 1020)))
    head = measured(make_rounds("c/a", (1000, 1010, 1020), plan=other))
    found = changes(base, head)
    assert found.cells == ()
    assert not_compared(found) == [
        "Only in base: c/a (plaintext, 64 connections); head has it with another load",
        "Only in base: c/gone (plaintext, 64 connections)",
        "Only in head: c/a (plaintext, 8 connections); base has it with another load",
    ]


def test_commands_with_different_names_get_a_hint() -> None:
    def of_command(name: str) -> tuple[Run, list[Trial]]:
        return measured(make_rounds(name, (1000, 1010, 1020)), targets={name: make_target(name, category=None)})

    hint = "To compare servers with different names, measure each with the same `--name`."
    assert hint in shown(changes(of_command("command/old"), of_command("command/new")))
    assert hint not in shown(changes(of_command("command/old"), of_command("command/old")))
    assert hint not in shown(changes(measured(make_rounds("c/a", (1000, 1010, 1020))), of_command("command/new")))


def test_a_target_that_only_head_has_is_listed_once() -> None:
    base = measured(make_rounds("c/a", (1000, 1010, 1020)))
    alone = [make_rounds("c/nginx", (1000,), plan={"load": Load(rate_rps=rate)}) for rate in range(1, 11)]
    found = changes(base, measured(make_rounds("c/a", (1000, 1010, 1020)), *alone))
    assert not_compared(found) == ["Only in head: c/nginx (plaintext, 64 connections, 10 loads)"]


def test_a_workload_with_another_definition_is_not_compared() -> None:
    stricter = {"plaintext": Workload(name="plaintext", description="Hello, World!", expect=Expectation(body="Hello"))}
    rounds = make_rounds("c/a", (1000, 1010, 1020))
    assert changes(measured(rounds), measured(rounds, workloads=stricter)).cells == ()


def test_with_a_rate_throughput_is_not_compared() -> None:
    offered = {"load": Load(connections=64, rate_rps=1000)}
    run = measured(make_rounds("c/a", (1000, 1000, 1000), plan=offered))
    found = changes(run, run, [SLOWER])
    assert "rps" not in found.cells[0].figures
    assert "p99" in found.cells[0].figures
    assert found.undecided


def test_containers_with_other_limits_are_not_compared() -> None:
    name = "c/a@docker"
    half, whole = (make_target("c/a", id=name, isolation=Isolation(engine=Engine.DOCKER, cpus=cpus)) for cpus in (0.5, 1.0))
    rounds = make_rounds(name, (1000, 1010, 1020))
    found = changes(measured(rounds, targets={name: half}), measured(rounds, targets={name: whole}))
    assert found.cells == ()
    assert not_compared(found)[0] == "Only in base: c/a@docker (plaintext, 64 connections); head has it with other limits"
    assert len(changes(measured(rounds, targets={name: half}), measured(rounds, targets={name: half})).cells) == 1


def test_different_cores_and_workers_are_listed_with_the_environment() -> None:
    two = make_plan().cores.model_copy(update={"target": (0, 3)})
    base = measured(make_rounds("c/a", (100_000, 101_000, 99_000)))
    head = measured([trial.model_copy(update={"plan": trial.plan.model_copy(update={"cores": two, "workers": 8})}) for trial in base[1]])
    assert changes(base, base).environment == ()
    assert [mismatch_text(each) for each in changes(base, head).environment] == [
        "cores of targets (1 → 2)",
        "workers of targets (one per core → 8)",
    ]


# --- on a terminal -------------------------------------------------------------------------------------------------------------


def many() -> Changes:
    """Return the changes of three targets under two loads. One target became slower."""
    names = ["python/gunicorn-meinheld", "golang/fasthttp", "c/epoll/level"]
    loads = [Load(connections=count) for count in (8, 64)]
    rounds = (100_000, 101_000, 99_000)
    base = [make_rounds(name, rounds, plan={"load": load}) for name in names for load in loads]
    head = [
        make_rounds(name, rounds if name != names[1] else (80_000, 80_500, 80_200), plan={"load": load}) for name in names for load in loads
    ]
    return changes(measured(*base), measured(*head))


@pytest.mark.parametrize("width", [80, 100, 200])
def test_changes_in_percent_fit_a_terminal(width: int) -> None:
    text = shown(many(), width)
    assert max(map(len, text.splitlines())) <= width
    assert "load: plaintext single" in text
    assert "Not shown" not in text
    slower = [line for line in text.splitlines() if "fasthttp" in line]
    assert all(line.split()[1:4] == ["-c", count, "-19.8"] for line, count in zip(slower, ("8", "64"), strict=True)), slower


def test_a_change_that_is_not_significant_has_no_number() -> None:
    (line,) = [line for line in shown(many(), 100).splitlines() if line.startswith("c/epoll/level") and " 64 " in line]
    assert line.split()[3] == "="


def test_at_most_six_lines_follow_the_table() -> None:
    base = measured(*(make_rounds(f"c/{number}", (1000, 1010, 1020)) for number in range(10)))
    head = measured(make_rounds("c/0", (1000, 1010, 1020)))
    text = shown(changes(base, head), 100)
    below = text.partition("\n\n")[2].partition("\n\n")[2].splitlines()
    assert len([line for line in below if line]) <= 6
    assert "6 more notes: add --explain" in text
    assert shown(changes(base, head), 100, View(explain=True)).count("Only in base") == 9


def test_wide_shows_the_values_of_both_runs() -> None:
    text = shown(many(), 300, View(wide=True))
    assert "×0.802 (" in text
    assert "99,997 → 80,233" in text


def test_columns_are_shown_in_the_requested_order() -> None:
    found = changes(measured(make_rounds("c/a", (1000, 1010, 1020))), measured(make_rounds("c/a", (1000, 1010, 1020))), (), ["p90"])
    text = shown(found, 100, View(names=("p90", "target")))
    assert any(line.split() == ["p90", "Target"] for line in text.splitlines())
