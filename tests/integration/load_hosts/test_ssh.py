"""Load from another host: a run as on one machine, its figures of both, and every way in which the other host can be lost.

All hosts of these tests share the cores of one machine, so nothing here depends on how fast something is.
"""

from __future__ import annotations

import ipaddress
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from httpbench import load
from tests import namespaces
from tests.harness import Harness
from tests.namespaces import Host, Link, Network
from tests.programs import program
from tests.waiting import until

pytestmark = pytest.mark.slow

GOOD = "test/misbehaving/good"
RELAYING = "proxy:test/relaying/good"
TARGETS = ("--targets", str(Path(__file__).parents[2] / "targets"))
QUICK = ("-c", "8", "-d", "1s", "--warmup", "0.3s", "--rounds", "1", "--timeout", "1s")
FROM_LOAD1 = ("-r", "load1", "--install")
GONE_S = 2.0


@dataclass(frozen=True, slots=True)
class Hosts:
    """The command on the target's host, in a place of its own."""

    network: Network
    harness: Harness

    @property
    def load1(self) -> Host:
        return self.network.load_hosts[0]

    @property
    def env(self) -> dict[str, str]:
        return {**self.harness.env, "HTTPBENCH_SSH": self.network.ssh}

    def run(self, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return self.network.target.run(*self.harness.argv(*words), env=env or self.env)

    def start(self, *words: str) -> subprocess.Popen[str]:
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return self.network.target.start(*self.harness.argv(*words), env=self.env, **pipes)

    def connections(self) -> int:
        """How often somebody logged in on load1."""
        return (self.load1.folder / "sshd.log").read_text().count("Accepted publickey")

    def masters(self) -> list[int]:
        """The ssh processes of the target's host that hold a connection."""
        found = []
        for pid in self.network.target.pids():
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"ssh") and b"ControlMaster=yes" in words:
                found.append(pid)
        return found

    def left_on_load1(self) -> list[str]:
        """What of ours runs there."""
        return [words for part in ("httpbench-loadgen", "python3 -I -S") for words in self.load1.programs(part)]


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    with namespaces.network(tmp_path / "network") as network:
        home = tmp_path / "home"
        home.mkdir()
        yield Hosts(network, Harness(home))


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.stdout.startswith("{"), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def trials(document: dict[str, Any]) -> list[dict[str, Any]]:
    found = [trial for result in document["results"] for trial in result["rounds"]]
    return sorted(found, key=lambda trial: trial["number"])


@pytest.mark.parametrize("generator", ["native", "wrk", "hey", "autocannon"])
def test_a_run_has_the_figures_of_both_hosts(hosts: Hosts, generator: str) -> None:
    found = load.get(generator).locate()
    if found is None:
        pytest.skip(f"{generator} is not installed: httpbench setup --load-generator {generator}")
    if generator not in ("native",):
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
    assert "load from load1 with" in hosts.run("report").stdout
    until(lambda: not hosts.left_on_load1(), GONE_S)


def test_the_warm_up_until_steady_comes_from_there_too(hosts: Hosts) -> None:
    words = ("-c", "8", "-d", "500ms", "--rounds", "1", "--warmup-max", "4s")
    done = hosts.run("bench", *TARGETS, GOOD, *words, *FROM_LOAD1, "--export-json", "-")
    assert done.returncode == 0, done.stderr
    (trial,) = trials(document(done))
    assert trial["settling"]["throughput_rps"]


def test_a_proxy_and_its_baseline_are_loaded_from_there(hosts: Hosts) -> None:
    done = hosts.run("bench", *TARGETS, RELAYING, *QUICK, *FROM_LOAD1, "--workload", "proxy-hello", "--export-json", "-")
    assert done.returncode == 0, done.stderr
    found = {result["target"]: result["rounds"][0] for result in document(done)["results"]}
    assert set(found) == {"baseline", RELAYING}
    assert all(trial["measurement"]["requests"]["ok"] > 100 and trial["load_host"] for trial in found.values())


def test_commands_urls_and_searches_are_loaded_from_there(hosts: Hosts) -> None:
    server = str(TARGETS[1]) + "/misbehaving/server.py"
    command = f"python3 {server} {{host}} {{port}} good"
    done = hosts.run("run", command, "--name", "own", *QUICK, *FROM_LOAD1, "--export-json", "-")
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


def test_over_ipv6(hosts: Hosts, tmp_path: Path) -> None:
    (tmp_path / "server6.py").write_text(SERVER6)
    address, server = hosts.network.target.address6, tmp_path / "server6.py"
    words = (f"python3 {server} {{host}} {{port}}", "--name", "own", *QUICK, *FROM_LOAD1)
    done = hosts.run("run", *words, "--host", address, "--export-json", "-")
    assert done.returncode == 0, done.stderr
    run = document(done)
    assert run["load_host"]["address"] == str(ipaddress.ip_address(address))
    assert trials(run)[0]["measurement"]["requests"]["ok"] > 10


def test_round_trips_are_those_of_the_link(hosts: Hosts) -> None:
    hosts.load1.shape(Link(delay_ms=5))
    done = hosts.run("bench", *TARGETS, GOOD, *QUICK, *FROM_LOAD1, "--export-json", "-")
    run = document(done)
    assert 9_500 < run["load_host"]["round_trips"]["min_us"] < 40_000
    (trial,) = trials(run)
    assert trial["measurement"]["service_time_us"]["min"] > 9_500


def interrupted_run(hosts: Hosts) -> subprocess.Popen[str]:
    """A run of three rounds whose first load generator runs on load1."""
    words = ("-c", "4", "-d", "3s", "--warmup", "0.1s", "--rounds", "3", "--timeout", "10s")
    running = hosts.start("bench", *TARGETS, GOOD, *words, *FROM_LOAD1, "--export-json", "-")
    until(lambda: hosts.load1.programs("--progress json") or running.poll() is not None, 60)
    assert running.poll() is None
    time.sleep(0.5)
    return running


def assert_goes_on(others: list[dict[str, Any]]) -> None:
    """Both further rounds were measured. Of a busy machine one may have no figures."""
    verdicts = [trial["verdict"] for trial in others]
    assert len(verdicts) == 2 and any(verdict["kind"] not in ("invalid", "failed") for verdict in verdicts), verdicts


def ended(running: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    output, errors = running.communicate(timeout=120)
    return subprocess.CompletedProcess(running.args, running.returncode, output, errors)


def test_ssh_that_dies_costs_one_trial(hosts: Hosts) -> None:
    running = interrupted_run(hosts)
    (master,) = hosts.masters()
    os.kill(master, signal.SIGKILL)
    until(lambda: not hosts.load1.programs("--progress json"), GONE_S)
    done = ended(running)
    assert done.returncode == 1
    first, *others = trials(document(done))
    assert first["verdict"]["kind"] == "invalid"
    assert first["verdict"]["reasons"][0].startswith("the connection to load host load1 was lost")
    assert_goes_on(others)
    assert hosts.connections() == 2


def test_a_link_that_is_cut_for_three_seconds_costs_one_trial(hosts: Hosts) -> None:
    running = interrupted_run(hosts)
    hosts.load1.cut()
    until(lambda: not hosts.load1.programs("--progress json"), GONE_S + 1.5)
    time.sleep(3)
    hosts.load1.join()
    done = ended(running)
    first, *others = trials(document(done))
    assert first["verdict"]["kind"] == "invalid"
    assert "load host load1 was lost: it did not respond for 2 s" in first["verdict"]["reasons"][0]
    assert_goes_on(others)
    until(lambda: not hosts.left_on_load1(), GONE_S)


def test_a_host_that_does_not_come_back_ends_the_run_with_what_it_has(hosts: Hosts) -> None:
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
        (("-o", "PubkeyAuthentication=no"), "load1 accepts no key or password of yours"),
        (("-p", "2"), "ssh cannot connect to load1: "),
    ],
)
def test_ssh_that_cannot_connect_is_refused_with_a_sentence(hosts: Hosts, options: tuple[str, ...], error: str) -> None:
    env = {**hosts.env, "HTTPBENCH_SSH": f"ssh {' '.join(options)} -F {hosts.network.ssh_config}"}
    done = hosts.run("bench", *TARGETS, GOOD, *QUICK, "-r", "load1", env=env)
    assert done.returncode == 2
    first, *_ = done.stderr.splitlines()
    assert first.startswith(f"error: {error}") and "hint: " in done.stderr


def test_what_makes_it_no_load_host_is_refused_before_a_trial(hosts: Hosts) -> None:
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
    assert error("--install", "--host", "192.0.2.9").startswith("error: load1 does not reach this machine at 192.0.2.9, port ")


def test_a_passphrase_is_asked_for_once(hosts: Hosts) -> None:
    subprocess.run(["ssh-keygen", "-q", "-p", "-N", "secret", "-f", hosts.network.key], check=True)
    argv = hosts.network.target.argv(*hosts.harness.argv("bench", *TARGETS, GOOD, *QUICK, "--rounds", "2", *FROM_LOAD1))
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(argv[0], argv, hosts.env)
    said, answered, deadline = b"", False, time.monotonic() + 90
    while time.monotonic() < deadline:
        try:
            data = os.read(terminal, 65_536) if select.select([terminal], [], [], 1)[0] else b" "
        except OSError:  # the end of a pseudo-terminal
            break
        said += data
        if not answered and b"passphrase for key" in said:
            os.write(terminal, b"secret\n")
            answered = True
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, said.decode(errors="replace")
    assert said.count(b"passphrase for key") == 1


def test_doctor_examines_both_hosts(hosts: Hosts) -> None:
    done = hosts.run("doctor", "-r", "load1", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    names = {finding["name"] for finding in found["findings"]}
    assert {"backlog", "load1: backlog", "load1: round-trips", "load1: ephemeral-ports", "load1: mtu"} <= names
    assert found["load_host"]["address"] == hosts.network.target.address
    hosts.load1.run("ip", "link", "set", "uplink", "mtu", "1400", check=True)
    shown = hosts.run("doctor", "-r", "load1").stdout
    assert re.search(r"warning +load1: mtu: packets hold 1400 bytes there \(uplink\) and 1500 here \(uplink\)", shown)
    assert "fix: set the same MTU on both" in shown
