"""End-to-end tests of rounds in slices: real servers take turns, and are frozen in between."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import connection_server, lingering_server, pausing_server, starving_server
from tests.harness import MISBEHAVING_SERVER, PYTHON, Harness
from tests.waiting import until

GOOD = f"{MISBEHAVING_SERVER} {{host}} {{port}} good"
SLICES = ("--interleave", "slices")


def run(harness: Harness, *words: str, duration: str = "400ms", **options: Any) -> subprocess.CompletedProcess[str]:
    return harness.run("run", "-c", "4", "-d", duration, "--warmup", "100ms", "--timeout", "5s", *words, **options)


def results(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """Return the first round of each target, by target name."""
    found: dict[str, Any] = json.loads(done.stdout)
    return {result["target"].removeprefix("command/"): result["rounds"][0] for result in found["results"]}


def test_targets_take_turns_and_every_slice_is_stored(harness: Harness) -> None:
    done = run(harness, GOOD, GOOD, "--name", "one", "--name", "two", "--rounds", "1", "--export-json", "-", *SLICES)
    assert done.returncode == 0, done.stderr
    assert ["[1/2]" in done.stderr, "[2/2]" in done.stderr] == [True, True], "each trial has its own number"
    found: dict[str, Any] = json.loads(done.stdout)
    assert {trial["slices"] for trial in found["plan"]} == {4}
    for each in results(done).values():
        measurement = each["measurement"]
        assert len(measurement["intervals"]) == 4
        assert measurement["duration_s"] == pytest.approx(0.4, abs=1e-3)
        assert measurement["requests"]["ok"] == sum(part["completed"] for part in measurement["intervals"])
        assert measurement["errors"] == dict.fromkeys(measurement["errors"], 0)
        assert each["target_usage"]["cpu_s"] > 0
        assert each["verdict"]["kind"] not in ("invalid", "failed")


def test_a_target_does_not_run_during_the_slices_of_another(harness: Harness, tmp_path: Path) -> None:
    """Each server writes the time to a file every millisecond unless it is frozen."""
    programs = [f"{PYTHON} {COUNTER} {{port}} {shlex.quote(str(tmp_path / name))}" for name in ("one", "two")]
    done = run(harness, *programs, "--rounds", "1", "--export-json", "-", *SLICES, duration="1s")
    assert done.returncode == 0, done.stderr
    if any(each["slices"] is None for each in results(done).values()):
        pytest.skip("other programs stopped a target for longer than a slice, so it was measured in a whole trial")
    ran = [[float(line) for line in (tmp_path / name).read_text().split()] for name in ("one", "two")]
    begin = max(times[0] for times in ran) + 1.0  # both targets have started and are warm
    gaps = [max(later - earlier for earlier, later in pairwise(times) if earlier > begin) for times in ran]
    assert min(gaps) > 0.1, "each one was frozen for the other's slice at least once"


PAUSING = f"{PYTHON} {shlex.quote(pausing_server.__file__)} {{host}} {{port}}"


@pytest.mark.alone
@pytest.mark.parametrize("interleave", ["slices", "rounds"])
def test_periodic_stalls_have_the_same_response_times_in_slices(harness: Harness, interleave: str) -> None:
    """The stalls make 18% of the requests late. A slice can't begin during a stall, and its lead-in must compensate for that.

    The two servers are equal, so their means over both are judged, which vary less. Other programs can raise the mean of all response
    times, but hardly the highest tenth, which are due to stalls.
    """
    load = ("-c", "64", "--rate", "200", "-d", "6s", "--warmup", "1s", "--rounds", "1")
    done = harness.run("run", PAUSING, PAUSING, *load, "--interleave", interleave, "--export-json", "-", timeout_s=180)
    assert done.returncode == 0, done.stderr
    times = [each["measurement"]["response_time_us"] for each in results(done).values()]
    mean_ms, p90_ms, p99_ms = (sum(each[name] for each in times) / len(times) / 1000 for name in ("mean", "p90", "p99"))
    print(f"{interleave}: mean {mean_ms:.1f} ms, p90 {p90_ms:.1f} ms, p99 {p99_ms:.1f} ms")
    assert mean_ms >= pausing_server.mean_wait_ms() * 0.5
    assert p90_ms == pytest.approx(pausing_server.wait_ms(0.9), rel=0.5)
    assert p99_ms == pytest.approx(pausing_server.wait_ms(0.99), rel=0.15)


LINGERING = f"{PYTHON} {shlex.quote(lingering_server.__file__)} {{host}} {{port}}"


@pytest.mark.slow
def test_a_target_with_a_long_drain_is_measured_in_a_whole_trial(harness: Harness) -> None:
    """The last responses of each slice would take about 1.2 s, twelve times as long as the slice itself.

    On a busy machine, the responses of the other target can take longer than a slice, too.
    """
    load = ("-c", "8", "-d", "1s", "--warmup", "0s", "--warmup-max", "2s", "--timeout", "10s", "--rounds", "1")
    done = harness.run("run", GOOD, LINGERING, *load, "--name", "good", "--name", "lingers", *SLICES)
    assert done.returncode == 0, done.stderr
    explained = " ".join(harness.run("report", "--explain").stdout.split())
    assert re.search(r"Measured in whole trials, because their responses can take longer than a slice: (good, )?lingers\.", explained)
    found = results(harness.run("report", "--format", "json"))
    assert found["lingers"]["slices"] is None
    for each in found.values():
        assert each["measurement"]["duration_s"] == pytest.approx(1, abs=1e-2)
        assert each["verdict"]["kind"] not in ("invalid", "failed"), each["verdict"]
    used = found["lingers"]["target_usage"]
    assert used["cpu_s"] > 0


STARVING = f"{PYTHON} {shlex.quote(starving_server.__file__)} {{host}} {{port}}"


@pytest.mark.slow
def test_a_target_whose_requests_wait_for_longer_than_a_slice_is_measured_in_a_whole_trial(harness: Harness) -> None:
    """At any time, half of the requests wait for up to 0.4 s. Most of these waits begin before a window.

    The trial is long because a stall at its end that takes over 10% of its duration makes it invalid.
    """
    load = ("-c", "8", "-d", "5s", "--warmup", "300ms", "--rounds", "2")
    done = harness.run("run", GOOD, STARVING, *load, "--name", "good", "--name", "starves", "--export-json", "-", *SLICES)
    assert done.returncode == 0, done.stderr
    (starves,) = (one for one in json.loads(done.stdout)["results"] if one["target"] == "command/starves")
    assert [one["slices"] for one in starves["rounds"]] == [None, None]
    for each in starves["rounds"]:
        measurement = each["measurement"]
        in_flight = measurement["throughput_rps"] * measurement["service_time_us"]["mean"] / 1e6
        assert in_flight == pytest.approx(8, rel=0.1)


@pytest.mark.slow
def test_connections_survive_the_turns_of_others(harness: Harness) -> None:
    """While a server waits, its time limits for idle connections expire. It may also have no place for another connection.

    Responses can take longer than a slice on a busy machine, and then the round is measured in a whole trial.
    """
    manners = ("closes", "few", "forks")
    unusual = [f"{PYTHON} {shlex.quote(connection_server.__file__)} {{host}} {{port}} {manner}" for manner in manners]
    names = [word for manner in ("good", *manners) for word in ("--name", manner)]
    done = run(harness, GOOD, *unusual, *names, "--rounds", "3", "--export-json", "-", *SLICES)
    assert done.returncode == 0, done.stderr
    found = {one["target"]: one["rounds"] for one in json.loads(done.stdout)["results"]}
    unusual_rounds = [found[f"command/{manner}"] for manner in manners]
    assert 4 in [each["slices"] for rounds in unusual_rounds for each in rounds]
    for rounds in unusual_rounds:
        for each in rounds:
            assert each["verdict"]["kind"] not in ("invalid", "failed"), each["verdict"]
            assert not any(each["measurement"]["errors"].values()), each["measurement"]["errors"]
            assert all(part["completed"] for part in each["measurement"]["intervals"])


COUNTER = shlex.quote(str(Path(__file__).with_name("counting_server.py")))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_keeps_the_slices_so_far(harness: Harness, number: int) -> None:
    load = ("-c", "4", "-d", "60s", "--warmup", "100ms", "--rounds", "1", "--name", "one", "--name", "two")
    with harness.start("run", GOOD, GOOD, *load, *SLICES) as process:
        until(lambda: len(servers(process.pid)) == 2, limit_s=60)
        turns: list[list[int]] = [[]]
        until(lambda: turns_so_far(turns, process.pid) > 6, limit_s=60)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "one" in stdout
    assert "interrupted after 2 of 2 trials" in stderr


def test_nothing_stays_behind_after_sigkill_while_targets_are_frozen(harness: Harness) -> None:
    with harness.start("run", GOOD, GOOD, "-c", "4", "-d", "60s", "--warmup", "100ms", "--rounds", "1", *SLICES) as process:
        until(lambda: any(is_frozen(server) for server in servers(process.pid)), limit_s=60)
        left = servers(process.pid)
        process.kill()
        process.wait(10)
    until(lambda: all(has_ended(server) for server in left), limit_s=20)


def has_ended(server: psutil.Process) -> bool:
    try:
        return not server.is_running() or server.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def servers(pid: int) -> list[psutil.Process]:
    """Return the running servers of a harness."""
    try:
        below = psutil.Process(pid).children(recursive=True)
        return [each for each in below if any(word.endswith("misbehaving/server.py") for word in each.cmdline())]
    except psutil.Error:
        return []


def is_frozen(server: psutil.Process) -> bool:
    """Return whether a server is stopped by a signal or by its control group."""
    try:
        if server.status() == psutil.STATUS_STOPPED:
            return True
        groups = Path(f"/proc/{server.pid}/cgroup").read_text().splitlines()
    except (psutil.Error, OSError):
        return False
    own = next((line.removeprefix("0::/") for line in groups if line.startswith("0::/")), "")
    files = [root / own / "cgroup.freeze" for root in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))]
    return any(file.exists() and file.read_text().strip() == "1" for file in files)


def turns_so_far(turns: list[list[int]], pid: int) -> int:
    """Add a turn to the list if a different server is now the only one running. Return the length of the list."""
    running = [server.pid for server in servers(pid) if not is_frozen(server)]
    if len(running) == 1 and running != turns[-1]:
        turns.append(running)
    return len(turns)
