"""Start the servers for comparisons of load generators, each on its own CPUs."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from peers import Load

START_TIMEOUT_S = 5


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its port, the processes whose CPU time is measured, and the file with its request counters, if any."""

    port: int
    pids: tuple[int, ...]
    requests: Path | None = None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(command: list[str], stdout: int | None = None, stderr: int | None = None) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdout=stdout, stderr=stderr, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def wait_until_it_listens(port: int) -> None:
    end_s = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < end_s:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError(f"the server does not listen on port {port}, {START_TIMEOUT_S} s after its start")


@contextmanager
def printing_its_port(cpus: str, command: list[str], requests: Path | None = None) -> Iterator[Server]:
    with running(["taskset", "-c", cpus, *command], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield Server(int(process.stdout.readline()), (process.pid,), requests)


def bare_server(cpus: str, body_bytes: int, build: Path, load: Load, options: tuple[str, ...] = ()) -> AbstractContextManager[Server]:
    """Start the epoll server of ``server.c``, which parses almost nothing, not even the `Connection` field."""
    requests = build / "requests"
    words = ["-f", str(requests), *options, *([] if load.keep_alive else ["-c"])]
    if load.tls:
        make_certificate(build)
        words += ["-t", str(build)]
    return printing_its_port(cpus, [str(build / ("server_tls" if load.tls else "server")), *words, "0", str(body_bytes)], requests)


def tls_is_missing(build: Path) -> str | None:
    """Return why the epoll server can't use TLS, or ``None``."""
    if not (build / "server_tls").exists():
        return "server_tls was not compiled; it requires libssl-dev"
    return "openssl is not installed" if shutil.which("openssl") is None else None


def uneven_options(load: Load, few: int, work_us: int) -> tuple[str, ...]:
    """Return the options for a second thread that gets ``few`` of the connections, and for ``work_us`` of work before each response.

    The second thread gets every n-th connection, so two load generators that run at the same time get equal shares of its connections.
    """
    return "-u", str(load.connections // few), "-w", str(work_us)


def go_server(cpus: str, body_bytes: int, build: Path) -> AbstractContextManager[Server]:
    """Start a server with Go's net/http and one thread per CPU."""
    return printing_its_port(cpus, [str(build / "server_go"), "0", str(body_bytes)])


@contextmanager
def any_server(cpus: str, command: str) -> Iterator[Server]:
    """Start a single-process server from a command that contains ``{port}``."""
    port = free_port()
    with running(["taskset", "-c", cpus, *shlex.split(command.replace("{port}", str(port)))]) as process:
        wait_until_it_listens(port)
        yield Server(port, (process.pid,))


def lay_out(folder: Path, body_bytes: int, load: Load) -> None:
    """Create the files of a file server: `html/index.html`, and with TLS `key.pem` and `certificate.pem`."""
    html = folder / "html"
    html.mkdir(exist_ok=True)
    folder.chmod(0o755)
    (html / "index.html").write_bytes(b"x" * body_bytes)
    if load.tls:
        make_certificate(folder)


def make_certificate(folder: Path) -> None:
    """Create a self-signed certificate for 127.0.0.1, once per folder."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    if certificate.exists():
        return
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "7"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)


@contextmanager
def nghttpd_server(cpus: str, body_bytes: int, build: Path, load: Load) -> Iterator[Server]:
    """Start the HTTP/2 server of nghttp2 with one worker."""
    lay_out(build, body_bytes, load)
    port = free_port()
    tls = [str(port), str(build / "key.pem"), str(build / "certificate.pem")] if load.tls else ["--no-tls", str(port)]
    with running(["taskset", "-c", cpus, "nghttpd", "-a", "127.0.0.1", "-d", str(build / "html"), *tls]) as process:
        wait_until_it_listens(port)
        yield Server(port, (process.pid,))
