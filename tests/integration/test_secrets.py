"""Tests that a CI job's secrets, in its environment or on its command line, are neither passed on nor stored."""

from __future__ import annotations

import json
from pathlib import Path

from tests.harness import PYTHON, Harness

TOKEN = "t0ken-of-a-user-4711"
CI_TOKEN = "t0ken-of-the-job-0815"
PASSWORD = "passw0rd-for-the-app"

# A server that logs its environment and its requests. Its responses are incorrect, so that the log is stored.
TALKER = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(sorted(os.environ.items()))
        print(self.headers.items(), flush=True)
        self.send_response(404)
        self.send_header("X-Echo", self.headers.get("Authorization", ""))
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_nothing_secret_is_stored_exported_or_shown(harness: Harness, tmp_path: Path) -> None:
    (tmp_path / "talker.py").write_text(TALKER)
    env = {**harness.env, "GITHUB_TOKEN": CI_TOKEN, "PASSED_ON": PASSWORD}
    words: tuple[str, ...] = ("run", f"{PYTHON} talker.py {{port}}", "--cwd", str(tmp_path), "-H", f"Authorization: Bearer {TOKEN}")
    words += ("--env", f"APP={PASSWORD}", "--env", "PASSED_ON", "--rounds", "1", "--retries", "0", "-d", "200ms", "--start-timeout", "3s")
    planned = harness.run(*words, "--dry-run", env=env)
    assert planned.returncode == 0, planned.stderr
    files = [f"--export-{name}={tmp_path / name}" for name in ("json", "csv", "markdown")]
    done = harness.run(*words, *files, env=env)
    report = harness.run("report", "latest")
    listed = harness.run("runs", "--json")
    shown = [text for each in (planned, done, report, listed) for text in (each.stdout, each.stderr)]
    shown += [(tmp_path / name).read_text() for name in ("json", "csv", "markdown")]
    shown += [path.read_bytes().decode(errors="replace") for path in harness.db.parent.iterdir() if path.is_file()]
    log = json.loads((tmp_path / "json").read_text())["results"][0]["rounds"][0]["log_tail"]
    assert "'PASSED_ON', '<redacted>'" in log, "the target got it"
    assert "'Authorization', '<redacted>'" in log
    assert "GITHUB_TOKEN" not in log, "the target did not get it"
    for secret in (TOKEN, CI_TOKEN, PASSWORD):
        assert not [text[:200] for text in shown if secret in text]


# A server that ends without a variable that is set in the user's shell.
NEEDY = """
import http.server, os, sys
password = os.environ["APP_PASSWORD"]
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.send_header("X-Password", password)
        self.end_headers()
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_a_server_that_lacks_a_variable_gets_it_with_an_option(harness: Harness, tmp_path: Path) -> None:
    (tmp_path / "needy.py").write_text(NEEDY)
    env = {**harness.env, "APP_PASSWORD": PASSWORD}
    words = (
        "run",
        f"{PYTHON} needy.py {{port}}",
        "--cwd",
        str(tmp_path),
        "--rounds",
        "1",
        "--retries",
        "0",
        "-d",
        "200ms",
        "--warmup",
        "0",
    )
    failed = harness.run(*words, env=env)
    assert "a server gets only basic variables such as PATH; pass on others with --env NAME, or all with --env-all" in failed.stdout
    for option in (("--env", "APP_PASSWORD"), ("--env-all",)):
        done = harness.run(*words, *option, "--export-json", "-", env=env)
        (result,) = json.loads(done.stdout)["results"]
        assert result["rounds"][0]["measurement"]["requests"]["ok"] > 0, done.stderr
        assert PASSWORD not in done.stdout + done.stderr
    assert not [path for path in harness.db.parent.iterdir() if path.is_file() and PASSWORD.encode() in path.read_bytes()]


def test_an_unset_variable_is_an_error(harness: Harness) -> None:
    done = harness.run("run", "server {port}", "--env", "NOT_SET_ANYWHERE")
    assert done.returncode == 2
    assert "--env NOT_SET_ANYWHERE: the environment has no such variable" in done.stderr


def test_an_error_does_not_repeat_a_value(harness: Harness) -> None:
    done = harness.run("run", "server {port}", "-H", f": Bearer {TOKEN}")
    assert done.returncode == 2
    assert TOKEN not in done.stderr + done.stdout
