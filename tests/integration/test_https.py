"""Tests of HTTPS and HTTP/2 with a real nginx, a server in Go and a server in Node."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from httpbench import load
from httpbench.http import ExchangeError, Transport, exchange
from httpbench.model import Request, Trust
from httpbench.run import h2spec
from tests import waiting
from tests.harness import Harness
from tests.servers import free_port
from tests.tls import ServerFiles, write_server_files

pytestmark = pytest.mark.slow

LOAD = ("-c", "8", "-d", "1s", "--warmup", "100ms", "--rounds", "1", "--export-json", "-", "-q")
CONFIGURATION = """
{user}daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 1024; }}
http {{
    access_log off; default_type text/plain; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    ssl_certificate {files.cert}; ssl_certificate_key {files.key};
    server {{
        listen 127.0.0.1:{both} ssl http2; listen 127.0.0.1:{without_tls} http2;
        location / {{ return 200 "Hello, World!"; }}
        location /large/ {{ root {folder}; }}
        location /post {{ proxy_pass http://127.0.0.1:{plain}/; }}
    }}
    server {{ listen 127.0.0.1:{only_http1} ssl; location / {{ return 200 "Hello, World!"; }} }}
    server {{ listen 127.0.0.1:{plain}; location / {{ return 200 "Hello, World!"; }} }}
}}
"""
GO = """
package main

import ("fmt"; "net/http"; "os")

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) })
	fmt.Println(http.ListenAndServeTLS("127.0.0.1:"+os.Args[1], os.Args[2], os.Args[3], nil))
}
"""
NODE = """
const fs = require('fs'), [port, cert, key] = process.argv.slice(2)
require('http2').createSecureServer({cert: fs.readFileSync(cert), key: fs.readFileSync(key), allowHTTP1: true}, (request, response) => {
  response.setHeader('Content-Type', 'text/plain')
  response.end('HTTP/' + request.httpVersion)
}).listen(+port, '127.0.0.1')
"""


@dataclass(frozen=True, slots=True)
class Nginx:
    files: ServerFiles
    both: int
    """Port with TLS that offers HTTP/1.1 and HTTP/2."""
    without_tls: int
    """Port for HTTP/2 with prior knowledge."""
    only_http1: int
    """Port with TLS that offers HTTP/1.1 only."""
    plain: int

    def exchange(self, port: int, *, http2: bool = False, tls: bool = True, **request: Any) -> Any:
        transport = Transport(Trust(ca_file=str(self.files.ca)) if tls else None, http2)
        return exchange("127.0.0.1", port, Request(**request), 5.0, transport)[0]


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin")
    if program is None:
        pytest.skip("nginx is not installed: apt-get install nginx-light")
    folder = tmp_path_factory.mktemp("nginx")
    ports = {name: free_port() for name in ("both", "without_tls", "only_http1", "plain")}
    files = write_server_files(folder / "tls")
    (folder / "large").mkdir()
    (folder / "large" / "file").write_bytes(bytes(range(256)) * 1024)
    (folder / "nginx.conf").write_text(
        CONFIGURATION.format(folder=folder, files=files, user="user root; " if os.geteuid() == 0 else "", **ports)
    )
    log = (folder / "output").open("wb")
    with log, subprocess.Popen([program, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stdout=log, stderr=log) as process:
        made = Nginx(files, **ports)
        try:
            waiting.until(lambda: _responds(made, process), 20)
            yield made
        finally:
            process.terminate()


def _responds(made: Nginx, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "nginx ended"
    try:
        return bool(made.exchange(made.plain, tls=False).status == 200)
    except OSError:
        return False


def measured(harness: Harness, *words: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a short load, and return its result and the only round of the result."""
    done = harness.run("run", *words, *LOAD)
    assert done.stdout, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    return result, result["rounds"][0]


@pytest.mark.parametrize(("words", "is_http2"), [(("-k",), False), (("--cacert", "{ca}", "--http2", "-p", "4"), True)])
def test_a_url_is_measured(harness: Harness, nginx: Nginx, words: tuple[str, ...], is_http2: bool) -> None:
    options = [word.format(ca=nginx.files.ca) for word in words]
    result, found = measured(harness, "--url", f"https://localhost:{nginx.both}/", *options)
    assert found["response"]["status"] == 200 and found["response"]["body"] == "Hello, World!"
    assert found["measurement"]["requests"]["ok"] > 100 and sum(found["measurement"]["errors"].values()) == 0
    assert (result["load"]["tls"], result["load"]["http2"]) == (True, is_http2)


def test_http2_without_tls(harness: Harness, nginx: Nginx) -> None:
    _, found = measured(harness, "--url", f"http://127.0.0.1:{nginx.without_tls}/", "--http2")
    assert found["measurement"]["requests"]["ok"] > 100


@pytest.mark.parametrize("generator", ["oha", "h2load"])
@pytest.mark.parametrize("words", [(), ("--http2",), ("--http2", "-p", "4")])
def test_other_load_generators_send_https_and_http2(harness: Harness, nginx: Nginx, generator: str, words: tuple[str, ...]) -> None:
    """Measure at a low rate, because this nginx closes each connection after 1,000 requests and h2load doesn't reopen it."""
    if load.get(generator).locate() is None:
        pytest.skip(f"{generator} is not installed: httpbench setup --load-generator {generator}")
    more = ("--rate", "1k", "--load-generator", generator, *words)
    urls: list[tuple[str, ...]] = [("--url", f"https://localhost:{nginx.both}/", "--cacert", str(nginx.files.ca))]
    if "--http2" in words:
        urls.append(("--url", f"http://127.0.0.1:{nginx.without_tls}/"))
    for url in urls:
        _, found = measured(harness, *url, *more)
        assert found["measurement"]["generator"] == generator
        assert found["measurement"]["requests"]["ok"] > 100 and sum(found["measurement"]["errors"].values()) == 0


def test_a_search_uses_the_protocol(harness: Harness, nginx: Nginx) -> None:
    words = ("--url", f"https://127.0.0.1:{nginx.both}/", "-k", "--http2", "-d", "300ms", "--warmup", "100ms", "--max-trials", "2")
    done = harness.run("saturate", *words, "--export-json", "-")
    rounds = json.loads(done.stdout)["results"][0]["rounds"]
    assert rounds and rounds[0]["measurement"]["requests"]["ok"] > 100, done.stderr


@pytest.mark.parametrize(
    ("port", "words", "sentence"),
    [
        ("both", (), "its certificate is not trusted: unable to get local issuer certificate; trust its authority with --cacert FILE"),
        ("only_http1", ("-k", "--http2"), "does not offer HTTP/2 in its TLS handshake (ALPN)"),
        ("plain", ("-k",), "failed the TLS handshake: "),
    ],
)
def test_what_cannot_work_is_one_sentence(harness: Harness, nginx: Nginx, port: str, words: tuple[str, ...], sentence: str) -> None:
    begun = time.monotonic()
    done = harness.run("run", "--url", f"https://localhost:{getattr(nginx, port)}/", *words, "-d", "300ms", "--rounds", "1")
    assert done.returncode == 1 and time.monotonic() - begun < 15
    assert sentence in done.stdout, done.stdout + done.stderr


def test_large_bodies_and_request_bodies_pass_the_flow_control(nginx: Nginx) -> None:
    response = nginx.exchange(nginx.both, http2=True, path="/large/file")
    assert response.body == bytes(range(256)) * 1024 and response.header("content-length") == str(256 << 10)
    response = nginx.exchange(nginx.both, http2=True, method="POST", path="/post", body="x" * 300_000)
    assert response.status == 200


def test_a_server_that_does_not_speak_http2_is_an_error(nginx: Nginx) -> None:
    with pytest.raises(ExchangeError, match=r"sent invalid HTTP/2|closed the connection|ended the connection"):
        nginx.exchange(nginx.plain, http2=True, tls=False)


def test_a_command_may_speak_tls(harness: Harness, tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    files = write_server_files(tmp_path / "tls")
    (tmp_path / "main.go").write_text(GO)
    subprocess.run(["go", "build", "-o", "server", "main.go"], cwd=tmp_path, check=True, timeout=120)
    for words, protocol in (((), "HTTP/1.1"), (("--http2",), "HTTP/2.0")):
        command = f"{tmp_path}/server {{port}} {files.cert} {files.key}"
        _, found = measured(harness, command, "--tls", "--cacert", str(files.ca), *words)
        assert found["response"]["body"] == protocol
        assert found["measurement"]["requests"]["ok"] > 100 and sum(found["measurement"]["errors"].values()) == 0


@pytest.mark.parametrize(("words", "protocol"), [((), "HTTP/1.1"), (("--http2",), "HTTP/2.0")])
def test_a_command_gets_a_certificate(harness: Harness, tmp_path: Path, words: tuple[str, ...], protocol: str) -> None:
    (tmp_path / "server.js").write_text(NODE)
    command = f"node {shlex.quote(str(tmp_path))}/server.js {{port}} {{cert}} {{key}}"
    result, found = measured(harness, command, *words)
    assert (result["load"]["tls"], found["response"]["body"]) == (True, protocol)
    assert found["measurement"]["requests"]["ok"] > 100 and sum(found["measurement"]["errors"].values()) == 0


def test_a_server_with_another_certificate_is_refused(harness: Harness, tmp_path: Path) -> None:
    files = write_server_files(tmp_path / "tls")
    (tmp_path / "server.js").write_text(NODE)
    command = f"node {shlex.quote(str(tmp_path))}/server.js {{port}} {shlex.quote(str(files.cert))} {shlex.quote(str(files.key))} {{cert}}"
    done = harness.run("run", command, *LOAD, "--start-timeout", "5s")
    assert done.returncode == 1 and "its certificate is not trusted" in done.stderr + done.stdout


def test_a_target_is_measured_over_tls(harness: Harness, nginx: Nginx) -> None:
    done = harness.run("bench", "c/nginx", "c/epoll", "--tls", "--no-keepalive", *LOAD, timeout_s=120)
    (result,) = json.loads(done.stdout)["results"]
    (found,) = result["rounds"]
    assert found["measurement"]["requests"]["ok"] > 50 and sum(found["measurement"]["errors"].values()) == 0
    assert "skipped HTTPS of c/epoll/edge: not declared in its target.toml" in done.stderr


@pytest.mark.parametrize("words", [("--tls",), ("--tls", "--http2")])
def test_a_target_keeps_its_contract_over_tls(harness: Harness, nginx: Nginx, words: tuple[str, ...]) -> None:
    done = harness.run("verify", "c/nginx", "--scaling", "single", *words, timeout_s=120)
    assert done.returncode == 0, done.stdout
    assert ("responds to pipelined requests in order" in done.stdout) == ("--http2" not in words)
    assert ("c/nginx h2spec: " in done.stdout) == ("--http2" in words and h2spec() is not None)


def test_other_verbs_use_tls(harness: Harness, nginx: Nginx) -> None:
    shown = harness.run("responses", "c/nginx", "--tls", "--http2", timeout_s=60)
    assert "Hello, World!" in shown.stdout, shown.stdout + shown.stderr
    probed = harness.run("probe", "c/nginx", "--tls", timeout_s=60)
    assert "server" in probed.stdout and probed.returncode == 0, probed.stdout + probed.stderr
    refused = harness.run("responses", "c/epoll/edge", "--tls")
    assert "c/epoll/edge does not declare HTTPS in its target.toml" in refused.stderr
