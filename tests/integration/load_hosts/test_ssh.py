"""Tests of load from another host: a normal run, measurements on both hosts, and all ways in which the load host can be lost.

All hosts share the cores of one machine, so no test depends on performance.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import shlex
import signal
import time
from pathlib import Path

import pytest

from httpbench import load
from tests.integration.load_hosts.hosts import (
    FROM_LOAD1,
    GONE_S,
    GOOD,
    QUICK,
    RELAYING,
    TARGETS,
    Hosts,
    assert_the_run_continued,
    document,
    ended,
    interrupted_run,
    trials,
    wait_for_output,
)
from tests.namespaces import Link
from tests.programs import program
from tests.waiting import until

pytestmark = pytest.mark.slow

OWN = f"python3 {shlex.quote(str(TARGETS[1]))}/misbehaving/server.py {{host}} {{port}} good"
"""Command line of a server."""


@pytest.mark.parametrize("generator", ["native", "wrk", "hey", "oha", "h2load", "autocannon", "perf-gauge"])
def test_a_run_has_measurements_of_both_hosts(hosts: Hosts, generator: str) -> None:
    found = load.get(generator).locate()
    if found is None:
        pytest.skip(f"{generator} is not installed: httpbench setup --load-generator {generator}")
    if generator != "native":
        (hosts.load1.folder / "bin" / generator).symlink_to(found)
    done = hosts.run("bench", *TARGETS, GOOD, *QUICK, *FROM_LOAD1, "--load-generator", generator, "--export-json", "-")
    assert done.returncode == 0, done.stderr
    assert re.search(rf"load host load1: \d+ cores?, round trip [\d,]+ µs; targets listen on {hosts.network.target.address}", done.stderr)
    run = document(done)
    assert run["load_host"]["address"] == hosts.network.target.address
    assert run["load_host"]["environment"]["kernel"] == os.uname().release
    assert run["load_host"]["round_trips"]["min_us"] > 0
    (trial,) = trials(run)
    assert trial["measurement"]["requests"]["ok"] > 100
    assert trial["target_usage"]["cpu_s"] > 0
    assert trial["generator_usage"]["cpu_s"] > 0 and trial["generator_usage"]["threads"] >= 1
    assert trial["generator_usage"]["cpu_wait_cores_mean"] is not None
    assert trial["load_host"]["occupancy"] and trial["load_host"]["network"]["segments_sent"] > 100
    assert trial["cores"]["generator"] == []
    assert hosts.connections() == 1
    assert "load from load1 with" in hosts.harness.run("report").stdout
    until(lambda: not hosts.left_on_load1(), GONE_S)


def test_servers_take_turns_under_load_from_the_load_host(hosts: Hosts) -> None:
    words = ("-c", "8", "-d", "1s", "--warmup", "0.3s", "--rounds", "2", "--timeout", "1s", "--interleave", "slices")
    done = hosts.run("run", OWN, OWN, *words, *FROM_LOAD1, "--export-json", "-")
    assert done.returncode == 0, done.stderr
    assert {trial["slices"] for trial in document(done)["plan"]} == {10}
    found = trials(document(done))
    assert len(found) == 4
    for trial in found:
        assert len(trial["measurement"]["intervals"]) == 10
        assert trial["measurement"]["requests"]["ok"] > 10
        assert trial["target_usage"]["cpu_s"] > 0
        assert trial["generator_usage"]["cpu_s"] > 0 and trial["generator_usage"]["cpu_wait_cores_mean"] is not None
        assert trial["load_host"]["name"] == "load1" and trial["load_host"]["occupancy"]
        assert trial["load_host"]["network"]["segments_sent"] > 10
    assert "of 10 slices in turns" in hosts.harness.run("report").stdout
    until(lambda: not hosts.left_on_load1(), GONE_S)


@pytest.mark.parametrize("how", ["cut", "killed"])
def test_a_load_host_that_is_lost_between_slices_costs_one_round(hosts: Hosts, how: str) -> None:
    """Nothing stays frozen, and the next round gets a new connection."""
    words = ("-c", "4", "-d", "6s", "--warmup", "0.1s", "--rounds", "2", "--timeout", "10s")
    running = hosts.start("run", OWN, OWN, *words, *FROM_LOAD1, "--export-json", "-")
    until(lambda: len(hosts.load1.programs("--slices-on-stdin")) >= 2 or running.poll() is not None, 60)
    time.sleep(2)
    if how == "cut":
        hosts.load1.cut()
        time.sleep(3)
        hosts.load1.join()
    else:
        (master,) = hosts.masters()
        os.kill(master, signal.SIGKILL)
    done = ended(running)
    assert done.returncode == 1
    found = trials(document(done))
    first, later = found[:2], found[2:]
    assert all(trial["verdict"]["kind"] == "invalid" for trial in first), [trial["verdict"] for trial in first]
    assert any("the connection to load host load1 was lost" in trial["verdict"]["reasons"][0] for trial in first)
    assert any(trial["verdict"]["kind"] not in ("invalid", "failed") for trial in later), [trial["verdict"] for trial in later]
    until(lambda: not hosts.left_on_load1(), GONE_S)


def test_a_warm_up_until_steady_also_uses_the_load_host(hosts: Hosts) -> None:
    words = ("-c", "8", "-d", "500ms", "--rounds", "1", "--warmup-max", "4s")
    done = hosts.run("bench", *TARGETS, GOOD, *words, *FROM_LOAD1, "--export-json", "-")
    assert done.returncode == 0, done.stderr
    (trial,) = trials(document(done))
    assert trial["settling"]["throughput_rps"]


def test_a_proxy_and_its_baseline_are_loaded_from_the_load_host(hosts: Hosts) -> None:
    """The backend runs on the target host, even for the baseline.

    All requests therefore cross the same network, and httpbench can measure the backend's CPU time.
    """
    done = hosts.run("bench", *TARGETS, RELAYING, *QUICK, *FROM_LOAD1, "--workload", "proxy-hello", "--export-json", "-")
    assert done.returncode == 0, done.stderr
    found = {result["target"]: result["rounds"][0] for result in document(done)["results"]}
    assert set(found) == {"baseline", RELAYING}
    for trial in found.values():
        assert trial["measurement"]["requests"]["ok"] > 100 and trial["load_host"]["name"] == "load1"
        assert trial["backend_usage"]["cpu_s"] > 0 and trial["generator_usage"]["cpu_s"] > 0
        assert trial["cores"]["backend"] and trial["cores"]["generator"] == []
    assert found[RELAYING]["target_usage"]["cpu_s"] > 0 and found["baseline"]["target_usage"] is None
    assert "load generator shared" not in hosts.harness.run("report", "--explain").stdout


def test_the_backend_of_a_proxy_may_run_on_the_load_host(hosts: Hosts) -> None:
    words = ("--workload", "proxy-hello", "--backend-host", "load")
    done = hosts.run("bench", *TARGETS, RELAYING, *QUICK, *FROM_LOAD1, *words, "--export-json", "-")
    if "has one core" in done.stderr:
        pytest.skip("the load host is this machine, which has one core")
    assert done.returncode == 0, done.stderr
    run = document(done)
    there = run["load_host"]
    assert there["backend_cpus"] and not {*there["backend_cpus"]} & {*there["cpus"]}
    found = {result["target"]: result["rounds"][0] for result in run["results"]}
    assert set(found) == {"baseline", RELAYING}
    for trial in found.values():
        assert trial["measurement"]["requests"]["ok"] > 100
        assert trial["backend_usage"]["cpu_s"] > 0 and trial["generator_usage"]["cpu_s"] > 0
        assert trial["cores"]["backend"] == [] and trial["load_host"]["backend_cores"] >= 1
    assert found[RELAYING]["target_usage"]["cpu_s"] > 0
    until(lambda: not hosts.load1.programs("nginx") and not hosts.left_on_load1(), GONE_S)
    assert re.search(r"load host load1: \d+ cores?, backend on CPUs? \d", done.stderr)
    shown = hosts.harness.run("report", "--explain").stdout
    assert "backend on load1" in shown and "the overhead of a proxy includes two round trips" in shown


def test_a_backend_that_dies_on_the_load_host_is_named(hosts: Hosts) -> None:
    words = ("--workload", "proxy-hello", "--backend-host", "load", "-d", "20s")
    running = hosts.start("bench", *TARGETS, RELAYING, *QUICK, *FROM_LOAD1, *words, "--export-json", "-")
    begin = until(lambda: time.monotonic() if hosts.load1.programs("--progress json") or running.poll() is not None else 0.0, 60)
    time.sleep(0.5)
    for pid in hosts.load1.programs("nginx: master"):
        os.kill(pid, signal.SIGKILL)
    wait_for_output(running, r"^\[1/2\] .*\n", 15)
    assert time.monotonic() - begin < 19, "the load goes on although nobody responds"
    running.send_signal(signal.SIGINT)
    first, *_ = trials(document(ended(running)))
    assert first["verdict"]["kind"] == "invalid"
    assert re.search("the (backend|target) died under the load", " ".join(first["verdict"]["reasons"]))


def test_commands_urls_and_searches_are_loaded_from_the_load_host(hosts: Hosts) -> None:
    server = str(TARGETS[1]) + "/misbehaving/server.py"
    done = hosts.run("run", OWN, "--name", "own", *QUICK, *FROM_LOAD1, "--export-json", "-")
    assert done.returncode == 0, done.stderr
    assert trials(document(done))[0]["load_host"]["name"] == "load1"
    own = hosts.network.target.start("python3", server, hosts.network.target.address, "8099", "good")
    try:
        done = hosts.run("run", "--url", f"http://{hosts.network.target.address}:8099/", *QUICK, *FROM_LOAD1, "--export-json", "-")
        assert done.returncode == 0, done.stderr
        assert trials(document(done))[0]["measurement"]["requests"]["ok"] > 100
    finally:
        own.kill()
        own.wait()
    search = ("-c", "4", "-d", "500ms", "--warmup", "0.1s", "--trials", "1", "--max-trials", "4", "--width", "50%", "--slo", "p99<500ms")
    done = hosts.run("saturate", *TARGETS, GOOD, *search, *FROM_LOAD1, "--export-json", "-")
    assert {trial["load_host"]["name"] for trial in trials(document(done)) if trial["measurement"]} == {"load1"}


SERVER6 = """
import http.server, socket, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_): pass
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
Server((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
"""


def test_a_load_host_works_over_ipv6(hosts: Hosts, tmp_path: Path) -> None:
    (tmp_path / "server6.py").write_text(SERVER6)
    address, server = hosts.network.target.address6, str(tmp_path / "server6.py")
    words = (f"python3 {shlex.quote(server)} {{host}} {{port}}", "--name", "own", *QUICK, *FROM_LOAD1)
    done = hosts.run("run", *words, "--host", address, "--export-json", "-")
    assert done.returncode == 0, done.stderr
    run = document(done)
    assert run["load_host"]["address"] == str(ipaddress.ip_address(address))
    assert trials(run)[0]["measurement"]["requests"]["ok"] > 10


def test_measured_round_trips_match_the_link(hosts: Hosts) -> None:
    hosts.load1.shape(Link(delay_ms=5))
    done = hosts.run("bench", *TARGETS, GOOD, *QUICK, *FROM_LOAD1, "--export-json", "-")
    run = document(done)
    assert 9_500 < run["load_host"]["round_trips"]["min_us"] < 40_000
    (trial,) = trials(run)
    assert trial["measurement"]["service_time_us"]["min"] > 9_500


def test_a_killed_ssh_costs_one_trial(hosts: Hosts) -> None:
    running = interrupted_run(hosts)
    (master,) = hosts.masters()
    os.kill(master, signal.SIGKILL)
    until(lambda: not hosts.load1.programs("--progress json"), GONE_S)
    done = ended(running)
    assert done.returncode == 1
    first, *others = trials(document(done))
    assert first["verdict"]["kind"] == "invalid"
    assert first["verdict"]["reasons"][0].startswith("the connection to load host load1 was lost")
    assert_the_run_continued(others)
    assert hosts.connections() == 2


def test_a_link_cut_for_three_seconds_costs_one_trial(hosts: Hosts) -> None:
    running = interrupted_run(hosts)
    hosts.load1.cut()
    cut_at = time.monotonic()
    is_left = True
    while is_left and time.monotonic() < cut_at + 3:  # on a busy machine, the load generator may take longer to end
        is_left = bool(hosts.load1.programs("--progress json"))
    time.sleep(max(cut_at + 3 - time.monotonic(), 0))
    hosts.load1.join()
    done = ended(running)
    first, *others = trials(document(done))
    assert first["verdict"]["kind"] == "invalid"
    assert "load host load1 was lost: it did not respond for 2 s" in first["verdict"]["reasons"][0]
    assert_the_run_continued(others)
    assert hosts.connections() == 2
    until(lambda: not hosts.left_on_load1(), GONE_S)


def test_a_cut_is_reported_while_the_link_is_still_down(hosts: Hosts) -> None:
    """The harness doesn't wait until ssh or TCP detects the cut."""
    running = interrupted_run(hosts)
    hosts.load1.cut()
    lines = wait_for_output(running, r"^\[1/3\] .*\n", 10)
    assert re.search(r"\[1/3\] .*invalid", lines), lines
    until(lambda: not hosts.load1.programs("--progress json"), GONE_S)
    hosts.load1.join()
    done = ended(running)
    assert_the_run_continued(trials(document(done))[1:])


def test_a_load_host_that_stays_lost_ends_the_run(hosts: Hosts) -> None:
    running = interrupted_run(hosts)
    hosts.load1.cut()
    done = ended(running)
    assert done.returncode == 1
    assert "stopped: the load host was lost, and a new connection to it failed" in done.stderr
    found = trials(document(done))
    assert [trial["verdict"]["kind"] for trial in found] == ["invalid", "invalid"]
    assert "ssh cannot connect to load host load1 again" in found[1]["verdict"]["reasons"][0]


def test_ctrl_c_and_sigkill_leave_nothing_on_the_load_host(hosts: Hosts) -> None:
    for number in (signal.SIGINT, signal.SIGKILL):
        running = interrupted_run(hosts)
        running.send_signal(number)
        ended(running)
        until(lambda: not hosts.left_on_load1() and not hosts.masters(), GONE_S)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("-o", "UserKnownHostsFile=/dev/null"), "ssh does not know the host key of load1"),
        (("-o", "PubkeyAuthentication=no"), "load1 rejects your keys and passwords"),
        (("-p", "2"), "ssh cannot connect to load1: "),
    ],
)
def test_a_failed_ssh_connection_gives_one_sentence(hosts: Hosts, options: tuple[str, ...], error: str) -> None:
    env = {**hosts.env, "HTTPBENCH_SSH": f"ssh {' '.join(options)} -F {hosts.network.ssh_config}"}
    done = hosts.run("bench", *TARGETS, GOOD, *QUICK, "-r", "load1", env=env)
    assert done.returncode == 2
    first, *_ = done.stderr.splitlines()
    assert first.startswith(f"error: {error}") and "hint: " in done.stderr


def test_an_unsuitable_load_host_is_refused_before_a_trial(hosts: Hosts) -> None:
    def error(*words: str) -> str:
        done = hosts.run("bench", *TARGETS, GOOD, *QUICK, "-r", "load1", *words)
        assert done.returncode == 2, done.stderr
        found: str = done.stderr.splitlines()[0]
        return found

    assert error() == "error: load1 has no httpbench-loadgen"
    program(hosts.load1.folder / "bin", "httpbench-loadgen", "echo httpbench-loadgen 0.0.1")
    assert "is version 0.0.1, and" in error()
    assert error("--install", "--host", "192.0.2.1").startswith("error: cannot listen on 192.0.2.1")
    unreachable = hosts.network.target
    unreachable.run("ip", "address", "add", "192.0.2.9/32", "dev", "lo", check=True)
    assert error("--install", "--host", "192.0.2.9").startswith("error: load host load1 cannot connect to this machine at 192.0.2.9, port ")


def test_doctor_examines_both_hosts(hosts: Hosts) -> None:
    done = hosts.run("doctor", "-r", "load1", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    names = {finding["name"] for finding in found["findings"]}
    assert {"backlog", "load1: backlog", "load1: round-trips", "load1: ephemeral-ports", "load1: mtu"} <= names
    assert found["load_host"]["address"] == hosts.network.target.address
    hosts.load1.run("ip", "link", "set", "uplink", "mtu", "1400", check=True)
    shown = hosts.run("doctor", "-r", "load1").stdout
    assert re.search(r"warning +load1: mtu: the MTU is 1400 bytes there \(uplink\) and 1500 bytes here \(uplink\)", shown)
    assert "fix: set the same MTU on both" in shown
