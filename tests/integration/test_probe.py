"""Tests that responses alone reveal programs that only pretend to be web servers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.harness import TARGETS, Harness
from tests.servers import Mode, Server

CHEATING = "test/cheating"


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Probe all cheating test servers and the honest one.

    A response that is late on a busy machine leaves the label unknown. Such servers are probed again.
    """
    harness = Harness(tmp_path_factory.mktemp("probe"))
    found: dict[str, Any] = {}
    targets = [CHEATING, "test/misbehaving/takes-bodies"]
    for _ in range(3):
        done = harness.run("probe", "--targets", str(TARGETS), *targets, "--json")
        assert done.returncode == 0, done.stderr
        found |= json.loads(done.stdout)
        targets = [target for target, probe in found.items() if probe["label"] is None]
        if not targets:
            break
    return found


def observation(probed: dict[str, Any], mode: str, trait: str) -> dict[str, Any]:
    return next(seen for seen in probed[f"{CHEATING}/{mode}"]["observations"] if seen["trait"] == trait)


def test_an_honest_server_is_labeled_a_server(probed: dict[str, Any]) -> None:
    assert probed[f"{CHEATING}/honest"]["label"] == "server"
    assert [seen for seen in probed[f"{CHEATING}/honest"]["observations"] if seen["holds"] is not True] == []


def test_a_server_that_takes_bodies_for_requests_is_labeled_a_router(probed: dict[str, Any]) -> None:
    found = probed["test/misbehaving/takes-bodies"]
    assert found["label"] == "router"
    assert "the server mistook the body for a request" in found["reasons"][0]


@pytest.mark.parametrize(
    ("mode", "trait", "sentence"),
    [
        ("length", "asked", "its responses depend on the length of a request, not on its content"),
        ("position", "asked", "identical requests get different responses at different positions"),
        ("frozen", "date", 'still "'),
        ("ahead", "unasked", "200, before the request"),
    ],
)
def test_responses_that_ignore_the_request_are_labeled_canned(probed: dict[str, Any], mode: str, trait: str, sentence: str) -> None:
    found = probed[f"{CHEATING}/{mode}"]
    assert found["label"] == "canned"
    assert any(sentence in reason for reason in found["reasons"])
    assert observation(probed, mode, trait)["holds"] is False


def test_a_server_that_responds_to_any_bytes_is_labeled_a_loop(probed: dict[str, Any]) -> None:
    assert probed[f"{CHEATING}/any-bytes"]["label"] == "loop"
    assert observation(probed, "any-bytes", "waits")["came"] == "200, before the end"


def test_a_cheat_that_passes_the_contract_fails_verifys_probe(harness: Harness) -> None:
    """This server looks only at the length of a request, which is enough for the contract but not for the probe."""
    done = harness.run("verify", "--targets", str(TARGETS), f"{CHEATING}/length")
    assert done.returncode == 1
    wrong = [line for line in done.stdout.splitlines() if line.startswith("  ✗")]
    assert len(wrong) == 1
    assert wrong[0].startswith("  ✗ responds to what was requested: failed: derives responses from requests (")
    assert "probe: canned" in done.stdout


def test_the_table_shows_the_label_and_warns_about_a_wrong_category(harness: Harness) -> None:
    done = harness.run("probe", "--targets", str(TARGETS), f"{CHEATING}/any-bytes")
    row = next(line for line in done.stdout.splitlines() if line.startswith(CHEATING))
    assert row.split()[1:3] == ["platform", "loop"]
    assert "warning: test/cheating/any-bytes is declared platform, but behaves like loop" in done.stdout


def test_details_show_requests_and_responses(harness: Harness) -> None:
    done = harness.run("probe", "--targets", str(TARGETS), f"{CHEATING}/any-bytes", "--details")
    assert "✗ refuses nonsense: words and an empty line, as long as a request → 200" in done.stdout


def test_bench_probes_each_target_once_and_shows_the_label_with_its_results(harness: Harness) -> None:
    done = harness.bench(f"{CHEATING}/any-bytes", f"{CHEATING}/honest", "-d", "100ms", "--rounds", "2", "--wide", "--export-json", "-")
    # The exit code doesn't matter: such short rounds may be invalid on a slow machine.
    document = json.loads(done.stdout)
    assert sorted(document["probes"]) == [f"{CHEATING}/any-bytes", f"{CHEATING}/honest"]
    trials = [(trial["number"], result["target"]) for result in document["results"] for trial in result["rounds"]]
    assert len(trials) == 4
    assert "Probe" in done.stderr
    loop = document["probes"][f"{CHEATING}/any-bytes"]
    assert loop["label"] in ("loop", None)  # on a very busy machine, the probe times out without a label
    if loop["label"]:
        assert "warning: test/cheating/any-bytes is declared platform, but behaves like loop" in " ".join(done.stderr.split())


def test_a_server_given_by_url_gets_only_requests_of_the_load(harness: Harness) -> None:
    with Server(Mode.OK) as server:
        quick = ("-c", "2", "-d", "300ms", "--warmup", "0", "--rounds", "1", "--export-json", "-")
        done = harness.run("run", "--url", server.url, *quick)
        heads = server.heads
    assert json.loads(done.stdout)["probes"] == {}
    assert {head.split(b"\r\n")[0] for head in heads} == {b"GET / HTTP/1.1"}
