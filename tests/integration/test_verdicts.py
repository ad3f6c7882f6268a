"""Tests of verdicts with real servers and loads: the bottleneck of a trial, and invalid trials.

Quotas and limited links make a program or a link the bottleneck on any machine. Other programs can only disturb a round, so each such run
has several short rounds, httpbench repeats those that were disturbed, and the undisturbed ones are judged.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from httpbench import load
from tests.harness import MISBEHAVING_SERVER, TARGETS, Harness
from tests.quota import limited_to

MISBEHAVING = "test/misbehaving"
FAST = "c/epoll/edge"
ROUNDS = ("-d", "600ms", "--warmup", "200ms", "--rounds", "2", "--retries", "2")

two_cores = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="on one core target and generator share it, and neither is to blame"
)


def results(harness: Harness, *words: str, **options: Any) -> list[dict[str, Any]]:
    done = harness.run("bench", "--targets", str(TARGETS), "--retries", "0", *words, "--export-json", "-", **options)
    found: list[dict[str, Any]] = json.loads(done.stdout)["results"]
    return found


def undisturbed(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rounds that other programs did not disturb. Skip the test if there are none."""
    found = [trial for trial in result["rounds"] if trial["verdict"]["kind"] != "disturbed"]
    if not found:
        pytest.skip(f"other programs disturbed every round: {result['verdict']['reasons']}")
    return found


@pytest.mark.alone
@two_cores
def test_a_weak_generator_is_reported_as_the_bottleneck(harness: Harness, tmp_path: Path) -> None:
    """The generator gets only 0.2 cores, so its CPU time alone would make it look idle."""
    wrapper = tmp_path / "bin" / "httpbench-loadgen"
    wrapper.parent.mkdir()
    with limited_to(0.2) as group:
        wrapper.write_text(f'#!/bin/sh\necho $$ > {group}\nexec {shlex.quote(load.get("native").program())} "$@"\n')
        wrapper.chmod(0o755)
        env = {**harness.env, "HTTPBENCH_PROGRAMS": str(wrapper.parent)}
        (result,) = results(harness, FAST, "-c", "16", *ROUNDS, env=env)
    for trial in undisturbed(result):
        assert trial["facts"]["generator_wait_cores"] > 0.25, trial["facts"]
        assert trial["verdict"]["kind"] == "generator", trial["verdict"]
        assert "waiting for a core" in trial["verdict"]["reasons"][-1]


@pytest.mark.alone
def test_a_target_that_stands_still_does_not_win_by_its_p99(harness: Harness) -> None:
    """The target stalls for 12% of the time. The p99 of a closed loop hides that; with a rate, the p99 shows it.

    A round of 2 s contains about four stalls in its windows, but sometimes only one.
    """
    targets = ("test/varying/stalls", "test/varying/slow", "--targets", str(TARGETS))
    load = ("-c", "16", "-d", "2s", "--warmup", "200ms", "--rounds", "3", "--retries", "0")
    said = " ".join(harness.run("bench", *targets, *load).stdout.split())
    assert re.search(r"p99 is not compared: test/varying/stalls stalled \d+ times in a round, longest \d+(\.\d+)? ms", said), said
    assert "p99 hides stalls, which `--rate` shows: test/varying/stalls stalled" in said
    at_a_rate = {
        result["target"]: [each["measurement"]["response_time_us"]["p99"] for each in result["rounds"]]
        for result in results(harness, *targets[:2], "-c", "16", "-d", "1s", "--warmup", "200ms", "--rounds", "3", "--rate", "1500")
    }
    # A round of 1 s may contain no stall, and other programs may delay the responses of the other target in some rounds.
    assert max(at_a_rate["test/varying/stalls"]) > 30_000 > min(at_a_rate["test/varying/slow"])


LIMITED = {
    "tbf": "tc qdisc add dev lo root tbf rate 20mbit burst 32k latency 100ms",
    "htb": "tc qdisc add dev lo root handle 1: htb default 1 && tc class add dev lo parent 1: classid 1:1 htb rate 20mbit burst 32k",
}
"""Shell scripts that limit the rate of loopback."""


@pytest.mark.alone
@two_cores
@pytest.mark.parametrize("kind", LIMITED)
def test_a_full_link_is_reported_as_the_bottleneck(harness: Harness, kind: str) -> None:
    """So many requests are under way that the link stays full while another virtual machine has the core for milliseconds."""
    in_new_network = ("unshare", "--net", "sh", "-c", f'ip link set lo up && {LIMITED[kind]} && exec "$@"', "sh")
    if subprocess.run([*in_new_network, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network with a limited rate is allowed here")
    limited = replace(harness, before=in_new_network)
    (result,) = results(limited, FAST, "-c", "256", *ROUNDS)
    for trial in undisturbed(result):
        assert trial["verdict"]["kind"] == "network", trial["verdict"]
        assert re.fullmatch(r"the network link lo was full \(\d+(\.\d+)? of 20 Mbit/s\)", trial["verdict"]["reasons"][0])


@pytest.mark.alone
@two_cores
def test_a_target_under_a_quota_is_reported_as_the_bottleneck(harness: Harness, tmp_path: Path) -> None:
    """The target gets only 0.2 cores, so its CPU time alone would make it look idle."""
    with limited_to(0.2) as group:
        server = f"{MISBEHAVING_SERVER} {{host}} {{port}} good"
        wrapper = tmp_path / "limited"
        wrapper.write_text(f'#!/bin/sh\necho $$ > {group}\nexec "$@"\n')
        wrapper.chmod(0o755)
        done = harness.run("run", f"{wrapper} {server}", "-c", "8", *ROUNDS, "--export-json", "-", cwd=tmp_path)
    (result,) = json.loads(done.stdout)["results"]
    for trial in undisturbed(result):
        assert trial["facts"]["target_throttled_share"] > 0.5
        assert trial["verdict"]["kind"] in ("target", "both"), trial["verdict"]  # other programs may also slow down the generator
        assert "the target's CPU quota stopped it" in "; ".join(trial["verdict"]["reasons"])


STOPS = {
    "resets": "requests failed, more than 0.10% .*reset [0-9]",
    "turns-500": "responses were wrong .*unexpected status [0-9]|no correct response .*unexpected status [0-9]",
    "idles": "connections stalled|no correct response|requests failed.*timeout",
}


@pytest.mark.slow
def test_a_server_that_stops_responding_correctly_is_invalid(harness: Harness) -> None:
    load = ("-c", "8", "-d", "1s", "--warmup", "0s", "--rounds", "1", "--timeout", "5s", "--interleave", "rounds")
    found = {result["target"]: result for result in results(harness, *(f"{MISBEHAVING}/{mode}" for mode in STOPS), *load)}
    for mode, sentences in STOPS.items():
        result = found[f"{MISBEHAVING}/{mode}"]
        assert result["verdict"]["kind"] == "invalid"
        assert result["summary"]["throughput_rps"] is None, "there is no headline number"
        assert re.search(sentences, "; ".join(result["verdict"]["reasons"])), result["verdict"]


@pytest.mark.slow
def test_status_500_from_the_first_response_on_is_invalid(harness: Harness, tmp_path: Path) -> None:
    """The server responds correctly to the checks before the load, like a server whose database fails only under load."""
    server = f"{MISBEHAVING_SERVER} {{host}} {{port}} turns-500"
    load = ("-c", "8", "-d", "300ms", "--warmup", "200ms", "--rounds", "1", "--timeout", "5s", "--retries", "0")
    done = harness.run("run", server, *load, cwd=tmp_path)
    assert done.returncode == 1
    assert "no correct response (unexpected status" in done.stdout or "responses were wrong (unexpected status" in done.stdout


@pytest.mark.slow
def test_evidence_shows_the_measurements_behind_a_verdict(harness: Harness) -> None:
    (result,) = results(harness, f"{MISBEHAVING}/good", "-c", "4", "-d", "300ms", "--warmup", "0s", "--rounds", "2", "--rate", "200")
    shown = harness.run("report", "--evidence", env={**harness.env, "COLUMNS": "400"}).stdout
    for title in ("Target", "Generator", "Waited", "Others", "Stolen", "Per core", "Achieved", "Lag p99", "Failed", "Resent", "Refused"):
        assert title in shown
    assert shown.count(f"{MISBEHAVING}/good") in (2, 4), "a line for each trial, perhaps continued below"
    facts = result["rounds"][0]["facts"]
    assert facts["network"]["segments_sent"] > 0
    assert facts["achieved_share"] == pytest.approx(result["rounds"][0]["measurement"]["throughput_rps"] / 200)


TWO_WRITES = """
import socket, sys, threading

def serve(connection):
    if sys.argv[2] == "nodelay":
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while connection.recv(4096):
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\n")
        connection.sendall(b"hello")

with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listener:
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


@pytest.mark.alone
def test_a_response_in_two_writes_is_explained_by_delayed_acks(harness: Harness, tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(TWO_WRITES)
    commands = [f"python3 {server} {{port}} {mode}" for mode in ("nagle", "nodelay")]
    words = ("--name", "slow", "--name", "fast", "-c", "4", "-d", "600ms", "--warmup", "200ms", "--rounds", "1", "--retries", "0")
    done = harness.run("run", *commands, *words, "--interleave", "rounds")
    assert done.returncode == 0, done.stdout + done.stderr
    (note,) = re.findall(r"Probably waiting for delayed ACKs.*", done.stdout)
    assert re.search(r": slow \(4\d ms\)\. Write head and body at once, or set TCP_NODELAY", note), note
