"""Tests that targets under load from Dask workers on other hosts listen at an address that these hosts can reach."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import waiting
from tests.harness import Harness
from tests.load_host_lab import Lab
from tests.namespaces import Host
from tests.own_results import completed, take_results

pytestmark = pytest.mark.slow

GOOD = "test/misbehaving/good"
RELAYING = "proxy:test/relaying/good"
TARGETS = ("--targets", str(Path(__file__).parents[2] / "targets"))
OWN = f"python3 {shlex.quote(str(TARGETS[1]))}/misbehaving/server.py {{host}} {{port}} good"
"""Command line of a server."""
QUICK = ("-d", "1s", "--warmup", "300ms", "--timeout", "1s")


def command(harness: Harness, made: Lab, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command on the target host."""
    return replace(harness, entrance=made.network.target.entrance).run(*words, *made.cluster.options, timeout_s=240)


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.stdout.startswith("{"), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_target_is_loaded_from_two_three_and_four_other_hosts(harness: Harness, two: Lab, kept: Path) -> None:
    for count in (2, 3, 4):
        two.have(count)
        done = command(harness, two, "bench", *TARGETS, GOOD, *QUICK, "-c", "11", "--rounds", "1", "--export-json", "-")
        assert done.returncode == 0, done.stderr
        address = re.escape(two.network.target.address)
        assert re.search(rf"^{count} load hosts: load1, load2.*; targets listen on {address}$", done.stderr, re.MULTILINE)
        run = document(done)
        (trial,) = run["results"][0]["rounds"]
        measurement, own = trial["measurement"], take_results(kept)
        assert len(own) == len(measurement["load_hosts"]) == count
        assert completed(own) == measurement["requests"]["completed"] > 0
        assert sum(host["connections"] for host in measurement["load_hosts"]) == 11
        assert trial["cores"]["generator"] == [] and not trial["cores"]["shared"]
        assert trial["target_usage"]["cpu_cores_mean"] > 0


@pytest.mark.parametrize("load", [(), ("--rate", "301")], ids=["closed loop", "open loop"])
def test_targets_take_turns_under_load_from_other_hosts(harness: Harness, two: Lab, kept: Path, load: tuple[str, ...]) -> None:
    """The merged result is the sum of the load generators' own results, slice by slice."""
    words = ("run", OWN, OWN, *QUICK, "-c", "11", "--rounds", "1", "--interleave", "slices", *load, "--export-json", "-")
    done = command(harness, two, *words)
    assert done.returncode == 0, done.stderr
    run = document(done)
    assert {trial["slices"] for trial in run["plan"]} == {10}
    rounds = [trial for result in run["results"] for trial in result["rounds"]]
    found, own = [trial["measurement"] for trial in rounds], take_results(kept)
    if any(trial["slices"] is None for trial in rounds):
        pytest.skip("other programs stopped a target for longer than a slice, so it was measured in a whole trial")
    assert len(found) == 2 and len(own) == 4
    assert completed(own) == sum(measurement["requests"]["completed"] for measurement in found) > 0
    assert received(own) == received(found)
    for measurement in found:
        assert len(measurement["intervals"]) == 10
        assert measurement["throughput_rps"] * measurement["duration_s"] == pytest.approx(received([measurement]))
        before_window = received([measurement]) - measurement["requests"]["completed"]
        assert 0 <= before_window <= (10 * 11 if load else 0), "an open loop's intervals include responses to requests from the lead-in"
        assert [host["name"] for host in measurement["load_hosts"]] == ["load1", "load2"]
        assert max(host["start_ms"] for host in measurement["load_hosts"]) < 200
        offered = [part["offered_rps"] for part in measurement["intervals"]]
        assert offered == ([pytest.approx(301, abs=1)] * 10 if load else [None] * 10)


def received(results: list[dict[str, Any]]) -> int:
    """Return the number of responses that arrived inside the windows of all slices."""
    return sum(part["completed"] for result in results for part in result["intervals"])


def test_a_load_host_that_is_lost_between_slices_is_named(harness: Harness, two: Lab) -> None:
    words = ("run", OWN, OWN, "-d", "20s", "--warmup", "300ms", "-c", "8", "--rounds", "1", "--export-json", "-")
    running = replace(harness, entrance=two.network.target.entrance).start(*words, *two.cluster.options)
    waiting.until(lambda: len(two.cluster.load_generators()) == 4 or running.poll() is not None, 120)
    two.cluster.workers[1].kill()
    output, errors = running.communicate(timeout=120)
    assert running.returncode == 1, errors
    verdicts = [trial["verdict"] for result in json.loads(output)["results"] for trial in result["rounds"]]
    assert [verdict["kind"] for verdict in verdicts] == ["invalid", "invalid"], verdicts
    assert any("lost load host load2" in verdict["reasons"][0] for verdict in verdicts), verdicts
    waiting.until(lambda: two.cluster.load_generators() == [], 10)


def test_an_address_of_another_machine_is_refused(harness: Harness, two: Lab) -> None:
    done = command(harness, two, "bench", *TARGETS, GOOD, *QUICK, "--host", "192.0.2.7")
    assert done.returncode == 2 and "cannot listen on 192.0.2.7" in done.stderr


def test_a_load_host_that_cannot_reach_the_address_is_named(harness: Harness, two: Lab) -> None:
    changes: list[tuple[Host, tuple[str, ...]]] = [(host, ("route", "unreachable", "10.99.0.0/16")) for host in two.network.load_hosts[:2]]
    changes.append((two.network.target, ("address", "10.99.0.2/32", "dev", "uplink")))
    for host, (kind, *words) in changes:
        host.run("ip", kind, "add", *words, check=True)
    done = command(harness, two, "bench", *TARGETS, GOOD, *QUICK, "--host", "10.99.0.2")
    for host, (kind, *words) in changes:
        host.run("ip", kind, "delete", *words, check=True)
    assert done.returncode == 2
    assert re.search(r"cannot connect to this machine at 10\.99\.0\.2, port \d+: No route to host", done.stderr), done.stderr


def test_a_command_and_a_proxy_are_loaded_from_other_hosts(harness: Harness, two: Lab) -> None:
    server = shlex.quote(str(Path(__file__).parents[2] / "targets" / "misbehaving" / "server.py"))
    load = (*QUICK, "-c", "8", "--rounds", "1", "--export-json", "-")
    done = command(harness, two, "run", f"python3 {server} {{host}} {{port}} good", *load)
    assert done.returncode == 0, done.stderr
    assert len(document(done)["results"][0]["rounds"][0]["measurement"]["load_hosts"]) == 2
    done = command(harness, two, "bench", *TARGETS, RELAYING, *load)
    assert done.returncode == 0, done.stderr
    assert all(len(trial["measurement"]["load_hosts"]) == 2 for trial in document(done)["results"][0]["rounds"])


def test_a_search_uses_load_from_other_hosts(harness: Harness, two: Lab) -> None:
    """The search might find no rate, because other programs may disturb all of its trials."""
    search = ("--slo", "p99<900ms", "--width", "50%", "--trials", "1", "--max-trials", "3", "-c", "8")
    done = command(harness, two, "saturate", *TARGETS, GOOD, *search, *QUICK, "--export-json", "-")
    trials = [trial for result in document(done)["results"] for trial in result["rounds"]]
    assert len(trials) > 1 and {len(trial["measurement"]["load_hosts"]) for trial in trials} == {2}
