"""Servers that only look like one are detected by their responses alone."""

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
    done = harness.run("probe", "--targets", str(TARGETS), CHEATING, "test/misbehaving/takes-bodies", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def observation(probed: dict[str, Any], mode: str, trait: str) -> dict[str, Any]:
    return next(seen for seen in probed[f"{CHEATING}/{mode}"]["observations"] if seen["trait"] == trait)


def test_an_honest_server_is_called_one(probed: dict[str, Any]) -> None:
    assert probed[f"{CHEATING}/honest"]["label"] == "server"
    assert [seen for seen in probed[f"{CHEATING}/honest"]["observations"] if seen["holds"] is not True] == []


def test_one_that_routes_but_takes_bodies_for_requests_is_a_router(probed: dict[str, Any]) -> None:
    found = probed["test/misbehaving/takes-bodies"]
    assert found["label"] == "router"
    assert "the body was taken for a request" in found["reasons"][0]


@pytest.mark.parametrize(
    ("mode", "trait", "sentence"),
    [
        ("length", "asked", "its responses depend on the length of a request, not on its content"),
        ("position", "asked", "identical requests get different responses at different positions"),
        ("frozen", "date", 'still "'),
        ("ahead", "unasked", "200, before the request"),
    ],
)
def test_responses_that_are_not_made_from_requests_are_canned(probed: dict[str, Any], mode: str, trait: str, sentence: str) -> None:
    found = probed[f"{CHEATING}/{mode}"]
    assert found["label"] == "canned"
    assert any(sentence in reason for reason in found["reasons"])
    assert observation(probed, mode, trait)["holds"] is False


def test_a_server_that_responds_to_any_bytes_is_a_loop(probed: dict[str, Any]) -> None:
    assert probed[f"{CHEATING}/any-bytes"]["label"] == "loop"
    assert observation(probed, "any-bytes", "waits")["came"] == "200, before the end"


def test_a_cheat_keeps_the_clauses_of_the_contract_and_fails_the_probe_of_verify(harness: Harness) -> None:
    """The length of a request is enough for the clauses of the contract, but not for the probe."""
    done = harness.run("verify", "--targets", str(TARGETS), f"{CHEATING}/length")
    assert done.returncode == 1
    wrong = [line for line in done.stdout.splitlines() if line.startswith("  ✗")]
    assert len(wrong) == 1
    assert wrong[0].startswith("  ✗ responds to what was requested: failed: derives responses from requests (")
    assert "probe: canned" in done.stdout


def test_the_table_shows_the_label_and_warns_of_a_wrong_category(harness: Harness) -> None:
    done = harness.run("probe", "--targets", str(TARGETS), f"{CHEATING}/any-bytes")
    row = next(line for line in done.stdout.splitlines() if line.startswith(CHEATING))
    assert row.split()[1:3] == ["platform", "loop"]
    assert "warning: test/cheating/any-bytes is declared platform, but seen as loop" in done.stdout


def test_details_show_what_was_sent_and_what_came(harness: Harness) -> None:
    done = harness.run("probe", "--targets", str(TARGETS), f"{CHEATING}/any-bytes", "--details")
    assert "✗ refuses nonsense: words and an empty line, as long as a request → 200" in done.stdout


def test_bench_probes_each_target_once_and_shows_the_label_beside_its_figures(harness: Harness) -> None:
    done = harness.bench(f"{CHEATING}/any-bytes", f"{CHEATING}/honest", "--rounds", "2", "--wide", "--export-json", "-")
    # The exit code does not matter: whether so short rounds are valid depends on the machine.
    document = json.loads(done.stdout)
    assert sorted(document["probes"]) == [f"{CHEATING}/any-bytes", f"{CHEATING}/honest"]
    trials = [(trial["number"], result["target"]) for result in document["results"] for trial in result["rounds"]]
    assert len(trials) == 4
    assert "Probe" in done.stderr
    loop = document["probes"][f"{CHEATING}/any-bytes"]
    assert loop["label"] in ("loop", None)  # on a machine without time the probe ends without a label, and says so
    if loop["label"]:
        assert "warning: test/cheating/any-bytes is declared platform, but seen as loop" in " ".join(done.stderr.split())


def test_a_server_that_is_not_ours_gets_no_request_but_those_of_the_load(harness: Harness) -> None:
    with Server(Mode.OK) as server:
        quick = ("-c", "2", "-d", "300ms", "--warmup", "0", "--rounds", "1", "--export-json", "-")
        done = harness.run("run", "--url", server.url, *quick)
        heads = server.heads
    assert json.loads(done.stdout)["probes"] == {}
    assert {head.split(b"\r\n")[0] for head in heads} == {b"GET / HTTP/1.1"}
