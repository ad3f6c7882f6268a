"""Servers that only look like one are found out, by what they answer and by nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.harness import TARGETS, Harness
from tests.servers import Mode, Server

CHEATING = "test/cheating"


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All servers of the tests that cheat, and the honest one beside them."""
    harness = Harness(tmp_path_factory.mktemp("probe"))
    done = harness.run("probe", "--targets", str(TARGETS), CHEATING, "test/misbehaving/good", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def observation(probed: dict[str, Any], mode: str, trait: str) -> dict[str, Any]:
    return next(seen for seen in probed[f"{CHEATING}/{mode}"]["observations"] if seen["trait"] == trait)


def test_an_honest_server_is_called_one(probed: dict[str, Any]) -> None:
    assert probed[f"{CHEATING}/honest"]["label"] == "server"
    assert [seen for seen in probed[f"{CHEATING}/honest"]["observations"] if seen["holds"] is not True] == []


def test_one_that_routes_but_takes_bodies_for_requests_is_a_router(probed: dict[str, Any]) -> None:
    found = probed["test/misbehaving/good"]
    assert found["label"] == "router"
    assert "also to what stands in the body" in found["reasons"][0]


@pytest.mark.parametrize(
    ("mode", "trait", "sentence"),
    [
        ("length", "asked", "its answers follow from the length of a request, not from what it asks"),
        ("position", "asked", "the very same request gets different answers at different places"),
        ("frozen", "date", "still «"),
        ("ahead", "unasked", "200, before anything was asked"),
    ],
)
def test_answers_that_are_not_made_from_requests_are_canned(probed: dict[str, Any], mode: str, trait: str, sentence: str) -> None:
    found = probed[f"{CHEATING}/{mode}"]
    assert found["label"] == "canned"
    assert any(sentence in reason for reason in found["reasons"])
    assert observation(probed, mode, trait)["holds"] is False


def test_one_that_answers_any_bytes_is_a_loop(probed: dict[str, Any]) -> None:
    assert probed[f"{CHEATING}/any-bytes"]["label"] == "loop"
    assert observation(probed, "any-bytes", "waits")["came"] == "200, before the end"


def test_cheats_pass_for_servers_where_only_the_contract_is_asked_and_fail_verify(harness: Harness) -> None:
    """The length of a request tells all that the contract asks, but not what the probe asks."""
    done = harness.run("verify", "--targets", str(TARGETS), f"{CHEATING}/length")
    assert done.returncode == 1
    wrong = [line for line in done.stdout.splitlines() if line.startswith("  ✗")]
    assert len(wrong) == 1
    assert wrong[0].startswith("  ✗ responds to what was requested: not so:")
    assert "probe: canned" in done.stdout


def test_the_table_says_what_was_found_and_warns_of_a_wrong_category(harness: Harness) -> None:
    done = harness.run("probe", "--targets", str(TARGETS), f"{CHEATING}/any-bytes")
    row = next(line for line in done.stdout.splitlines() if line.startswith(CHEATING))
    assert row.split()[1:3] == ["platform", "loop"]
    assert "warning: test/cheating/any-bytes is declared platform, but seen as loop" in done.stdout


def test_details_say_what_was_sent_and_what_came(harness: Harness) -> None:
    done = harness.run("probe", "--targets", str(TARGETS), f"{CHEATING}/any-bytes", "--details")
    assert "✗ refuses nonsense: words and an empty line, as long as a request → 200" in done.stdout


def test_bench_probes_each_target_once_and_shows_the_word_beside_its_figures(harness: Harness) -> None:
    done = harness.bench(f"{CHEATING}/any-bytes", f"{CHEATING}/honest", "--rounds", "2", "--export-json", "-")
    # The exit code is not asked: whether so short rounds count is for the machine to say.
    document = json.loads(done.stdout)
    assert sorted(document["probes"]) == [f"{CHEATING}/any-bytes", f"{CHEATING}/honest"]
    trials = [(trial["number"], result["target"]) for result in document["results"] for trial in result["rounds"]]
    assert len(trials) == 4
    assert "Probe" in done.stderr
    loop = document["probes"][f"{CHEATING}/any-bytes"]
    assert loop["label"] in ("loop", None)  # on a machine without time the probe ends without a word, and says so
    if loop["label"]:
        assert "warning: test/cheating/any-bytes is declared platform, but seen as loop" in " ".join(done.stderr.split())


def test_a_server_that_is_not_ours_is_sent_nothing_but_what_was_asked_for(harness: Harness) -> None:
    with Server(Mode.OK) as server:
        quick = ("-c", "2", "-d", "300ms", "--warmup", "0", "--rounds", "1", "--export-json", "-")
        done = harness.run("run", "--url", server.url, *quick)
        heads = server.heads
    assert json.loads(done.stdout)["probes"] == {}
    assert {head.split(b"\r\n")[0] for head in heads} == {b"GET / HTTP/1.1"}
