"""Tests that ``run`` and ``saturate`` send the requests in a user's files, over each protocol, and check each response."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import waiting
from tests.harness import PYTHON, Harness
from tests.servers import free_port
from tests.tls import ServerFiles, write_server_files

pytestmark = pytest.mark.slow

SHORT = ("-c", "8", "-d", "1s", "--warmup", "200ms", "--rounds", "1", "-q", "--export-json", "-")
CONFIGURATION = """
{user}daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 1024; }}
http {{
    keepalive_requests 1000000;
    log_format requests "$request_method $request_uri $http_x_key"; access_log {folder}/requests requests;
    default_type text/plain; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    ssl_certificate {files.cert}; ssl_certificate_key {files.key};
    server {{
        listen 127.0.0.1:{plain}; listen 127.0.0.1:{tls} ssl http2; listen 127.0.0.1:{http2} http2;
        location / {{ return 200 "$request_method $request_uri $http_x_key"; }}
        location /same/ {{ return 200 "same"; }}
        location /varying/ {{ return 200 "$request_id"; }}
        location /moved {{ return 302 /; }}
        location /missing {{ return 404; }}
    }}
}}
"""
SERVER = """
import socketserver, sys

class Handler(socketserver.StreamRequestHandler):
    requests = 0

    def handle(self):
        while line := self.rfile.readline():
            while self.rfile.readline().strip():
                pass
            Handler.requests += 1
            path = line.split()[1]
            body = b"wrong" if path == b"/2" and Handler.requests > 40 else path
            self.wfile.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%s" % (len(body), body))

    def finish(self):
        pass

class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        pass

Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@dataclass(frozen=True, slots=True)
class Nginx:
    folder: Path
    files: ServerFiles
    plain: int
    tls: int
    http2: int

    def take_requests(self) -> Counter[str]:
        """Return the requests received so far, with their numbers, and forget them."""
        log = self.folder / "requests"
        found = Counter(log.read_text().splitlines())
        os.truncate(log, 0)
        return found


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin")
    if program is None:
        pytest.skip("nginx is not installed: apt-get install nginx-light")
    folder = tmp_path_factory.mktemp("nginx")
    made = Nginx(folder, write_server_files(folder / "tls"), free_port(), free_port(), free_port())
    ports = {"plain": made.plain, "tls": made.tls, "http2": made.http2}
    user = "user root; " if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, files=made.files, user=user, **ports))
    log = (folder / "output").open("wb")
    with log, subprocess.Popen([program, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stdout=log, stderr=log) as process:
        try:
            waiting.until(lambda: (folder / "pid").exists() and (folder / "pid").read_text().strip() != "", 20)
            yield made
        finally:
            process.terminate()


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def measured(harness: Harness, *words: str) -> dict[str, Any]:
    """Run a short load, and return the only round of its only result."""
    done = harness.run("run", *words, *SHORT)
    assert done.stdout, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    (trial,) = result["rounds"]
    assert isinstance(trial, dict)
    return trial


def assert_no_errors(trial: dict[str, Any]) -> None:
    measurement = trial["measurement"]
    assert measurement["requests"]["ok"] > 50 and not any(measurement["errors"].values()), measurement["errors"]
    assert "WRONG" not in json.dumps(trial["verdict"]).upper(), trial["verdict"]


ROWS = 20
"""Number of rows. On a busy machine, the time for learning responses suffices for about 40 over TLS."""


@pytest.mark.parametrize(
    ("port", "words"),
    [
        ("plain", ()),
        ("plain", ("--pipeline", "4")),
        ("plain", ("--threads", "2")),
        ("plain", ("--rate", "2000")),
        ("plain", ("--rate", "2000", "--arrivals", "poisson", "--no-keepalive")),
        ("tls", ("-k",)),
        ("tls", ("-k", "--http2", "--pipeline", "4")),
        ("http2", ("--http2", "--threads", "2")),
        ("http2", ("--http2", "--rate", "2000")),
    ],
)
def test_every_row_is_sent_equally_often_and_gets_its_own_response(
    harness: Harness, nginx: Nginx, tmp_path: Path, port: str, words: tuple[str, ...]
) -> None:
    rows = "".join(f"{number},key-{number}\n" for number in range(ROWS))
    data = written(tmp_path, "users.csv", f"id,key\n{rows}")
    url = f"{'https' if port == 'tls' else 'http'}://127.0.0.1:{getattr(nginx, port)}/users/{{id}}"
    nginx.take_requests()
    trial = measured(harness, "--url", url, "--data", data, "-H", "X-Key: {key}", *words)
    assert_no_errors(trial)
    assert trial["learned_requests"] == {"count": ROWS, "learned": ROWS, "bodies": ROWS, "common": None}
    seen = nginx.take_requests()
    counts = [seen[f"GET /users/{number} key-{number}"] for number in range(ROWS)]
    assert sum(counts) > ROWS * 4 and max(counts) - min(counts) <= 0.2 * max(counts) + 4, counts


def test_a_wrong_response_to_one_row_is_found(harness: Harness, tmp_path: Path) -> None:
    data = written(tmp_path, "d.jsonl", '{"id": 1}\n{"id": 2}\n{"id": 3}\n')
    server = written(tmp_path, "server.py", SERVER)
    trial = measured(harness, "--data", data, "--path", "/{id}", f"{PYTHON} {shlex.quote(server)} {{port}}")
    assert trial["verdict"]["kind"] == "invalid"
    errors, requests = trial["measurement"]["errors"], trial["measurement"]["requests"]
    assert 0 < errors["unexpected_body"] <= requests["completed"] / 3 + 10
    assert any("request 2: " in reason for reason in trial["verdict"]["reasons"]), trial["verdict"]


@pytest.mark.parametrize(
    ("path", "body_bytes"),
    [("/same/{id}", 4), ("/users/{id}", None), ("/varying/{id}", None)],
)
def test_a_long_file_is_learned_from_some_of_its_rows(
    harness: Harness, nginx: Nginx, tmp_path: Path, path: str, body_bytes: int | None
) -> None:
    data = written(tmp_path, "d.csv", "id\n" + "".join(f"{number}\n" for number in range(20_000)))
    trial = measured(harness, "--url", f"http://127.0.0.1:{nginx.plain}", "--path", path, "--data", data)
    assert_no_errors(trial)
    learned = trial["learned_requests"]
    assert (learned["count"], learned["learned"], learned["common"]["body_bytes"]) == (20_000, 100, body_bytes)


def test_urls_follow_their_weights_and_have_results_of_their_own(harness: Harness, nginx: Nginx, tmp_path: Path) -> None:
    origin = f"http://127.0.0.1:{nginx.plain}"
    urls = written(tmp_path, "urls.txt", f"# URLs\n/a 3\n{origin}/b?x=1\n")
    trial = measured(harness, "--url", origin, "--urls", urls, "-X", "POST", "-H", "X-Key: k")
    assert_no_errors(trial)
    a, b = trial["measurement"]["parts"]
    assert (a["name"], a["weight"], b["name"], b["weight"]) == ("post-a", 3, "post-b-x-1", 1)
    assert abs(a["sent"] - 3 * b["sent"]) <= 4
    assert trial["learned_requests"]["bodies"] == 2


def test_a_recording_is_replayed_with_its_statuses(harness: Harness, nginx: Nginx, tmp_path: Path) -> None:
    def entry(path: str, status: int) -> dict[str, Any]:
        headers = [{"name": "Host", "value": "shop"}, {"name": "X-Key", "value": "k"}]
        return {"request": {"method": "GET", "url": f"https://shop{path}", "headers": headers}, "response": {"status": status}}

    entries = [entry("/a", 200), entry("/moved", 302), entry("/missing", 404), entry("/c", 200)]
    entries[3]["request"]["url"] = "https://cdn/"
    har = written(tmp_path, "shop.har", json.dumps({"log": {"entries": entries}}))
    words = ("--url", f"http://127.0.0.1:{nginx.plain}", "--har", har)
    done = harness.run("run", *words, *SHORT)
    assert done.returncode == 2
    assert "shop.har: no request to http://127.0.0.1:" in done.stderr and "--origin https://shop sends its requests" in done.stderr
    done = harness.run("run", *words, "--origin", "https://shop", *SHORT)
    assert "shop.har: sends 3 requests, without 1 to other origins" in done.stderr
    (result,) = json.loads(done.stdout)["results"]
    assert_no_errors(result["rounds"][0])
    assert [part["name"] for part in result["rounds"][0]["measurement"]["parts"]] == ["get-a", "get-moved", "get-missing"]


def test_a_request_is_replayed_from_the_output_of_curl(harness: Harness, nginx: Nginx, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    url = f"http://127.0.0.1:{nginx.plain}/orders?x=1"
    curl = subprocess.run(["curl", "-v", "-H", "X-Key: k", "-d", "body", url], capture_output=True, text=True, timeout=10, check=True)
    transcript = written(tmp_path, "curl.txt", curl.stderr)
    trial = measured(harness, "--url", url, "--request", transcript, "--body", "body")
    assert_no_errors(trial)
    assert trial["response"]["body"] == "POST /orders?x=1 k"


def test_saturate_sends_the_rows_of_a_file(harness: Harness, nginx: Nginx, tmp_path: Path) -> None:
    data = written(tmp_path, "d.csv", "id\n1\n2\n3\n")
    words = ("--url", f"http://127.0.0.1:{nginx.plain}/{{id}}", "--data", data, "--slo", "p99<1s")
    done = harness.run("saturate", *words, "-d", "300ms", "--warmup", "100ms", "--max-trials", "3", "-q", "--export-json", "-")
    document = json.loads(done.stdout)
    trials = [trial for result in document["results"] for trial in result["rounds"]]
    assert trials and all(trial["learned_requests"]["count"] == 3 for trial in trials)
    assert sum(trial["measurement"]["requests"]["ok"] for trial in trials) > 50
    assert not any("unexpected" in error and count for trial in trials for error, count in trial["measurement"]["errors"].items())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--load-generator", "wrk"), "wrk cannot send requests of several kinds; `--load-generator native` can"),
        (("--path", "/{key}"), 'd.csv:2: no column "key", which the path uses'),
        (("--workload", "json"), "--data and --workload both define the request"),
        (("--path", "/"), "d.csv: the request has no placeholder for a column"),
    ],
)
def test_what_cannot_be_sent_is_one_sentence(harness: Harness, tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    data = written(tmp_path, "d.csv", "id\n1\n2\n")
    done = harness.run("run", "./server {port}", "--data", data, "--path", "/{id}", *words)
    assert done.returncode == 2
    assert sentence in done.stderr, done.stderr
