"""End-to-end tests of ``httpbench run`` with real servers and loads: its output, store and errors. They don't check performance."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness import MISBEHAVING_SERVER, PYTHON, Harness
from tests.servers import Mode, Server

pytestmark = pytest.mark.slow

SERVER = f"{MISBEHAVING_SERVER} {{host}} {{port}}"
GOOD = f"{SERVER} good"

COMPARED = re.compile(
    r"^new (serves \S+ (± \S+ )?times (\(\S+ to \S+\) )?the requests of old"
    r"|is not distinguishable from old: )",
    re.MULTILINE,
)


def run(harness: Harness, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run short trials: four connections for a fifth of a second each."""
    return harness.run("run", "-c", "4", "-d", "200ms", "--warmup", "50ms", "--timeout", "5s", *words, **options)


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_three_commands_are_compared_with_their_baseline(harness: Harness, tmp_path: Path) -> None:
    """The bounds of the gates are far beyond any noise."""
    words = (GOOD, GOOD, GOOD, "--name", "new", "--name", "old", "--name", "other", "--baseline", "old", "--rounds", "3")
    done = run(harness, *words, "--fail-if", "rps<-99.9%", "--fail-if", "rps>-99.9%", "--export-json", str(tmp_path / "run.json"))
    found = json.loads((tmp_path / "run.json").read_text())
    order = [(trial["round"], trial["target"]) for trial in found["plan"]]
    assert [number for number, _ in order] == [0, 0, 0, 1, 1, 1, 2, 2, 2], "rounds are interleaved"
    assert all({name for own, name in order if own == number} == set(found["targets"]) for number in range(3))
    commands = [trial["commands"] for result in found["results"] for trial in result["rounds"]]
    assert all(f":{each['target'][-2]}/" in each["load"][-1] for each in commands), "each command has its own port"

    assert found["baseline"] == "command/old"
    compared = [(one["target"], one["baseline"], one["figure"]) for one in found["comparisons"] if one["figure"] == "throughput_rps"]
    assert sorted(compared) == [(f"command/{name}", "command/old", "throughput_rps") for name in ("new", "other")]
    for comparison in found["comparisons"]:
        figures = comparison["comparison"]
        assert figures["rounds"] == 3
        assert figures["interval"]["low"] <= figures["ratio"] <= figures["interval"]["high"]
        # A p99 requires 1,000 responses, which a busy machine may not reach.
        assert comparison["figure"] in ("throughput_rps", "latency_us_p99")

    assert COMPARED.search(done.stdout), done.stdout
    assert COMPARED.search(harness.run("report", "latest").stdout), "a report of the stored run says the same"
    assert done.returncode == 3, done.stderr
    assert "PASSED rps<-99.9%: new against old, get" in done.stdout
    assert "BREACHED rps>-99.9%: new against old" in done.stdout


def test_too_few_rounds_support_no_claim_and_say_how_many_are_needed(harness: Harness) -> None:
    done = run(harness, GOOD, GOOD, "--name", "old", "--name", "new", "--rounds", "2", "-d", "100ms")
    assert "new is not compared with old: 2 common rounds are too few; use 3 or more" in done.stdout


def test_a_running_server_is_measured_and_left_running(harness: Harness) -> None:
    with Server(Mode.OK) as server:
        done = run(harness, "--url", server.url, GOOD, "--name", "mine", "--name", "running", "--rounds", "1", "--explain")
        assert done.returncode == 0, done.stderr
        assert "running: already running and not restarted between rounds" in " ".join(done.stdout.split())
        before = server.requests
        again = run(harness, "--url", f"127.0.0.1:{server.port}", "--rounds", "1", "-q", "--export-json", "-")
        assert again.returncode == 0, again.stderr
        assert server.requests > before
    url = document(again)["targets"][f"command/127.0.0.1-{server.port}"]["url"]
    assert url == f"http://127.0.0.1:{server.port}", "a URL without a scheme is http"


def test_any_successful_status_is_accepted_but_must_not_change(harness: Harness) -> None:
    done = run(harness, f"{SERVER} turns-500", "--rounds", "1")
    assert done.returncode == 1
    assert "unexpected" in done.stdout


def test_options_set_the_request_and_the_expected_response(harness: Harness) -> None:
    with Server(Mode.OK) as server:
        asked = ("--url", f"{server.url}orders?id=7", "-H", "X-Test: yes", "-X", "PUT", "--rounds", "1", "--export-json", "-")
        found = document(run(harness, *asked, "--expect-body", "Hello, World!", "--expect-status", "200"))
        assert found["status"] == "finished"
        heads = [head for head in server.heads if head.startswith(b"PUT /orders?id=7 HTTP/1.1")]
        assert heads
        assert all(b"x-test: yes" in head.lower() for head in heads)
        wrong = run(harness, "--url", server.url, "--rounds", "1", "--expect-body", "Goodbye")
        assert wrong.returncode == 1
        assert "body `Hello, World!` instead of `Goodbye`" in wrong.stdout


def test_targets_at_a_fixed_rate_are_compared_by_latency_and_cost(harness: Harness) -> None:
    done = run(harness, GOOD, GOOD, "--name", "old", "--name", "new", "--rate", "400", "--rounds", "3", "--export-json", "-")
    found = document(done)
    assert {comparison["figure"] for comparison in found["comparisons"]} <= {"latency_us_p99", "cpu_us_per_request"}
    assert all(result["load"]["rate_rps"] == 400 and result["rank_best"] is None for result in found["results"])


def test_a_scan_doubles_the_connections_up_to_the_end_also_with_a_built_in_workload(harness: Harness) -> None:
    scan = ("--scan", "connections", "1..5", "--workload", "plaintext")
    found = document(harness.run("run", GOOD, *scan, "-d", "100ms", "--warmup", "0s", "--rounds", "1", "--export-json", "-"))
    assert found["workloads"]["plaintext"]["expect"]["body"] == "Hello, World!"
    assert [result["load"]["connections"] for result in found["results"]] == [1, 2, 4, 5]


# --- how commands are run ------------------------------------------------------------------------------------------------------


def test_options_set_the_environment_folder_and_preparation(harness: Harness, tmp_path: Path) -> None:
    Path(tmp_path, "port.sh").write_text(f"exec {MISBEHAVING_SERVER} 127.0.0.1 $MY_PORT good\n")
    prepare = "python3 -c \"open('prepared', 'a').write('.')\""
    words = ("sh port.sh", "--env", "MY_PORT={port}", "--cwd", str(tmp_path), "--prepare", prepare, "--rounds", "2")
    done = run(harness, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert Path(tmp_path, "prepared").read_text() == "..", "once before each trial"


def test_a_shell_is_used_only_on_request_and_ends_with_its_children(harness: Harness) -> None:
    command = f"true && {GOOD}"
    refused = harness.run("run", command, "--rounds", "1")
    assert (refused.returncode, "uses &&, which requires a shell" in refused.stderr) == (2, True)
    done = run(harness, command, "--shell", "--rounds", "1", "--export-json", "-")
    assert done.returncode == 0, done.stdout
    assert "left processes running" not in done.stdout, "JSON is not broken into lines, where words could hide"


def test_a_preparation_that_fails_fails_the_trial(harness: Harness) -> None:
    done = run(harness, GOOD, "--prepare", "sh -c 'echo no space >&2; exit 3'", "--rounds", "1")
    assert done.returncode == 1
    assert "its preparation failed, exit code 3" in done.stdout
    assert "no space" in done.stdout


def test_a_failing_command_does_not_stop_the_others(harness: Harness) -> None:
    done = run(harness, GOOD, f"{SERVER} exits", "--name", "old", "--name", "new", "--rounds", "3")
    assert done.returncode == 1
    assert "new is not compared with old: new has no valid round" in done.stdout
    assert "cannot read my configuration" in done.stdout


# --- rounds until precise enough -----------------------------------------------------------------------------------------------


def test_rounds_end_when_the_interval_is_narrow_enough(harness: Harness, tmp_path: Path) -> None:
    """The requested precision is so low that the first check ends the rounds on any machine, and the gate is far beyond any noise."""
    words = (GOOD, GOOD, "--name", "base", "--name", "head", "--precision", "100000%", "--min-rounds", "3", "--max-rounds", "8")
    done = run(harness, *words, "--fail-if", "rps<-99.9%", "--export-json", str(tmp_path / "run.json"))
    assert done.returncode == 0, done.stdout
    found = json.loads((tmp_path / "run.json").read_text())
    assert [len(result["rounds"]) for result in found["results"]] == [3, 3]
    assert found["status"] == "finished"
    assert "after 3 rounds, within the requested ± 100000%" in done.stdout
    assert "PASSED rps<-99.9%: head against base, get" in done.stdout
    (line,) = harness.runs()
    assert (line["trials_done"], line["trials_planned"]) == (6, 6)


def test_rounds_that_are_not_precise_enough_say_how_many_are_needed(harness: Harness) -> None:
    done = run(harness, GOOD, GOOD, "--precision", "0.0001%", "--min-rounds", "3", "--max-rounds", "4")
    assert "the run ends after 4" in done.stderr
    assert re.search(r"± \S+% was not reached in 4 rounds \(± (more than 100|[\d.]+)%\)", done.stdout)


# A server that listens on [::1] only.
IPV6 = """
import http.server, socket, sys
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *words):
        pass
Server(("::1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.mark.parametrize("others", [(), (GOOD,)], ids=["alone", "in slices"])
def test_a_server_that_listens_on_ipv6_only_is_measured(harness: Harness, tmp_path: Path, others: tuple[str, ...]) -> None:
    (tmp_path / "ipv6.py").write_text(IPV6)
    words = (f"{PYTHON} ipv6.py {{port}}", *others, "--cwd", str(tmp_path), "--rounds", "1", "--retries", "0", "--start-timeout", "10s")
    found = document(run(harness, *words, "--export-json", "-"))
    (result,) = (result for result in found["results"] if result["target"] == "command/ipv6.py")
    (trial,) = result["rounds"]
    assert trial["measurement"]["requests"]["ok"] > 0
    assert trial["commands"]["load"][-1].startswith("http://[::1]:")


# A server on a Unix socket.
UNIX = """
import http.server, socketserver, sys
class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    request_queue_size = 64
    daemon_threads = True
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def address_string(self):
        return "unix"
    def log_message(self, *words):
        pass
Server(sys.argv[1], Handler).serve_forever()
"""


def test_a_running_server_on_a_unix_socket_is_measured(harness: Harness, tmp_path: Path) -> None:
    path = tmp_path / "app.sock"
    with subprocess.Popen([sys.executable, "-c", UNIX, str(path)]) as server:
        try:
            done = run(harness, "--url", f"unix:{path}", "--path", "/x", "--rounds", "1", "--retries", "0", "--export-json", "-")
            refused = harness.run("run", "--url", f"unix:{path}", "--load-generator", "wrk")
        finally:
            server.terminate()
    (result,) = document(done)["results"]
    assert result["rounds"][0]["measurement"]["requests"]["ok"] > 0, done.stderr
    assert "wrk cannot connect to Unix sockets here" in refused.stderr


# --- errors --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "no server given"),
        (("./server",), "has no {port}"),
        (("./server {prot}",), "unknown placeholder {prot}"),
        (("./server {port} '",), "cannot be split into words"),
        (("./server {port}", "--name", "a", "--name", "b"), "2 --name for 1 servers"),
        (("a {port}", "b {port}", "--name", "x", "--name", "X"), "two servers have the name x"),
        (("a {port}", "--baseline", "b"), "no server is called b"),
        (("a {port}", "--url", "ftp://127.0.0.1/"), "is not an http or https URL"),
        (("--url", "http://127.0.0.1/a", "--url", "http://127.0.0.1/b"), "the URLs have different paths"),
        (("a {port}", "--rounds", "3", "--precision", "2%"), "cannot be used with --precision"),
        (("a {port}", "--min-rounds", "9", "--max-rounds", "3"), "--min-rounds 9 is more than --max-rounds 3"),
        (("a {port}", "--scan", "connections", "1..8", "-c", "8"), "both set the number of connections"),
        (("a {port}", "--scan", "connections", "8..1"), "goes down"),
        (("a {port}", "--fail-if", "rps<-3%"), "--fail-if requires a second server"),
        (("a {port}", "--precision", "0.02"), "could be a fraction or a percentage; write it as 2% or 0.02%"),
        (("a {port}", "-H", "nonsense"), "write it as 'Name: value'"),
        (("a {port}", "--env", "nonsense"), "write it as KEY=VALUE"),
        (("a {port}", "--body", "@/nowhere"), "cannot read /nowhere"),
        (("a {port}", "--rate", "1k", "--load-generator", "wrk"), "wrk has no open loop"),
        (("a {port}", "--columns", "target,p98"), "this table has no column p98"),
        (("a {port}", "--columns", "p99", "--wide"), "--wide and --columns cannot be combined"),
    ],
)
def test_invalid_options_are_refused_before_anything_runs(harness: Harness, words: tuple[str, ...], sentence: str) -> None:
    done = harness.run("run", *words)
    assert done.returncode == 2, done.stdout
    assert sentence in done.stderr
    assert json.loads(harness.run("runs", "--json").stdout) == []


def test_a_dry_run_does_nothing(harness: Harness) -> None:
    done = harness.run("run", "a {port}", "b {port}", "--dry-run", "--retries", "2")
    assert done.returncode == 0
    assert "10 trials: 2 lines × 5 rounds" in done.stdout
    assert "more if other programs disturb every trial (--retries 2)" in done.stdout
    assert "disturb" not in harness.run("run", "a {port}", "b {port}", "--dry-run", "--retries", "0").stdout
    assert json.loads(harness.run("runs", "--json").stdout) == []


@pytest.mark.parametrize("generator", ["native", "wrk"])
def test_a_body_that_becomes_shorter_under_load_is_incorrect(harness: Harness, generator: str) -> None:
    words = ("-d", "1s", "--rounds", "2", "--load-generator", generator, "--export-json", "-")
    done = run(harness, f"{SERVER} turns-shorter", *words)
    assert done.returncode == 1, done.stdout
    found = document(done)
    (result,) = found["results"]
    assert result["verdict"]["kind"] == "invalid"
    assert [each["learned"]["body_bytes"] for each in result["rounds"]] == [13], "it stopped after the first round"
    assert found["status"] == "stopped"
    assert "stopped after round 1 of 2" in done.stderr


def test_a_short_accept_queue_is_reported_with_a_hint(harness: Harness) -> None:
    done = harness.run(
        "run", "-c", "64", "-d", "1s", "--warmup", "0s", "--rounds", "2", "--retries", "0", f"{PYTHON} -m http.server {{port}}"
    )
    assert "http.server" in done.stdout
    if done.returncode:  # a fast machine may accept all connections in time
        assert "hint: the server accepts 5 connections at a time: try `-c 5`" in done.stdout
