"""Tests of tables that compare published results with our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.errors import UsageError
from httpbench.model import Run, Trial, Verdict, VerdictKind
from tests.factories import make_rounds, make_run, make_target
from tests.made_runs import make_clients_run, make_proxies_run
from tools.results.quoted import with_results

PLACE = Path("/repository/docs")
FOLDER = Path("/repository/results/some-machine")

HEADER = "| Target | Published | Here | Rank here |\n| --- | --: | --: | --: |\n"
GENERATOR = Verdict(kind=VerdictKind.GENERATOR, reasons=("generator-bound",))


def block(choice: str, *lines: str) -> str:
    return (
        f"Before.\n\n<!-- results: {choice} -->\n{HEADER}" + "".join(f"{line}\n" for line in lines) + "<!-- end of results -->\n\nAfter.\n"
    )


def servers() -> tuple[Run, list[Trial]]:
    trials = [
        *make_rounds("c/fast", (300_000, 301_000, 302_000)),
        *make_rounds("c/middle", (200_000, 200_500, 201_000)),
        *make_rounds("c/alike", (200_200, 200_600, 200_900)),
        *make_rounds("c/slow", (100_000, 100_200, 100_400)),
        *make_rounds("c/bound", (400_000, 401_000, 402_000), verdict=GENERATOR),
    ]
    return make_run(trials), trials


def filled(page: str, run: Run | None = None, trials: list[Trial] | None = None, suite: str = "servers") -> list[str]:
    found = {FOLDER / suite: (run, trials)} if run is not None and trials is not None else {}
    return with_results(page, PLACE, found).splitlines()


def test_our_results_and_ranks_are_beside_the_published_ones() -> None:
    page = block("servers connections=64", "| `c/fast` | 90,000 | old | old |", "| `c/bound` | 80,000 | | |", "| `c/none` | 1 | | |")
    lines = filled(page, *servers())
    assert "| `c/fast` | 90,000 | 301,000 ± 0.8% | 2 |" in lines
    assert "| `c/bound` | 80,000 | ≥ 401,000 ± 0.6% | 1 |" in lines
    assert "| `c/none` | 1 | not measured |  |" in lines
    assert lines[0] == "Before." and lines[-1] == "After."


def test_the_order_is_compared_pair_by_pair() -> None:
    rows = ("| `c/slow` | 4 | | |", "| `c/fast` | 3 | | |", "| `c/middle` | 2 | | |", "| `c/alike` | 1 | | |", "| `c/bound` | 5 | | |")
    text = "\n".join(filled(block("servers connections=64", *rows), *servers()))
    assert "rank here: 10. Of these, 6 are in the published order, 3 in the reverse order, and 1 couldn't be told apart." in text
    assert "Here: 2026-11-21, AMD EPYC" in text and "([analysis](../results/some-machine/servers/analysis.md))" in text


def test_without_results_every_cell_says_so() -> None:
    lines = filled(block("servers", "| `c/fast` | 90,000 | 1 | 1 |"))
    assert "| `c/fast` | 90,000 | not measured |  |" in lines and "Not measured here yet." in lines


def test_a_current_page_is_unchanged() -> None:
    once = "\n".join(filled(block("servers", "| `c/fast` | 90,000 | | |"), *servers()))
    assert "\n".join(filled(once, *servers())) == once


def test_the_newest_run_with_the_table_is_used() -> None:
    run, trials = servers()
    newer = run.model_copy(update={"started_at": "2027-01-01T00:00:00.000Z"})
    elsewhere = {FOLDER / "servers": (run, trials), FOLDER.with_name("other") / "servers": (newer, trials)}
    assert "Here: 2027-01-01" in with_results(block("servers connections=64", "| `c/fast` | 1 | | |"), PLACE, elsewhere)
    assert "Not measured here yet." in with_results(block("servers connections=8", "| `c/fast` | 1 | | |"), PLACE, elsewhere)


def test_a_target_in_a_container_is_found_by_its_id() -> None:
    name = "node/express@docker"
    trials = make_rounds(name, (1000, 1001, 1002))
    run = make_run(trials, {name: make_target("node/express", id=name)})
    assert "| `node/express` | 1,899 | 1,001 ± 0.2% | 1 |" in filled(block("servers", "| `node/express` | 1,899 | | |"), run, trials)


def test_clients_have_times_and_the_shortest_comes_first() -> None:
    rows = ("| `client:c/curl` | 457.9 | | |", "| `client:golang/http-client` | 133.1 | | |")
    text = "\n".join(filled(block("http-clients workload=client-small-1000", *rows), *make_clients_run(), "http-clients"))
    assert "Pairs of targets with a rank here: 1. Of these, 0 are in the published order, 1 in the reverse order," in text


def test_proxies_have_a_share_of_the_baseline() -> None:
    lines = filled(block("tcp-proxies rate=none", "| `proxy:c/haproxy` | 70 to 80% | | |"), *make_proxies_run(), "tcp-proxies")
    assert any(line.startswith("| `proxy:c/haproxy` | 70 to 80% | 6") and "%" in line for line in lines)
    assert not any("pairs" in line for line in lines), "words have no order"


def test_the_summary_counts_the_pairs_of_each_section() -> None:
    summary = "<!-- summary of results -->\nold\n<!-- end of summary -->\n\n"
    ordered = block("servers connections=64", "| `c/fast` | 3 | | |", "| `c/middle` | about 1 | | |", "| `c/slow` | less | | |")
    mixed = block("servers connections=64", "| `c/middle` | 3 | | |", "| `c/alike` | 2 | | |", "| `c/slow` | 1 | | |")
    page = f"{summary}## All in order\n\n{ordered}\n## Twice\n\n{mixed}{ordered}\n## Nothing\n\n{block('none', '| `c/x` | 1 | | |')}"
    lines = filled(page, *servers())
    assert lines[:5] == [
        "<!-- summary of results -->",
        "| comparison | reproduced | pairs of targets in the published order | in the reverse order | not told apart |",
        "| --- | --- | --: | --: | --: |",
        "| [All in order](#all-in-order) | reproduced | 3 | 0 | 0 |",
        "| [Twice](#twice) | partly | 5 | 0 | 1 |",
    ]
    assert lines[5:7] == ["| [Nothing](#nothing) | not measured |  |  |  |", "<!-- end of summary -->"]
    assert with_results("\n".join(lines), PLACE, {FOLDER / "servers": servers()}).splitlines() == lines


def test_an_invalid_selection_is_an_error() -> None:
    with pytest.raises(UsageError, match='"connection=64" matches no table'):
        filled(block("servers connection=64", "| `c/fast` | 1 | | |"), *servers())
