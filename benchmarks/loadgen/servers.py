"""What the generators are measured against: one server on one CPU."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CONFIGURATION = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 8192; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=10;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{ listen 127.0.0.1:{port} backlog=4096; root {folder}/html; }}
}}
"""
START_TIMEOUT_S = 5


@dataclass(frozen=True, slots=True)
class Server:
    """Where it listens, the process whose CPU time is the server's, and the file in which it counts its requests, if it does."""

    port: int
    pid: int
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
def bare_server(cpu: int, body_bytes: int, build: Path, keep_alive: bool = True) -> Iterator[Server]:
    """Our own epoll server, which parses next to nothing; not even whether a request wants the connection kept."""
    requests = build / "requests"
    command = ["taskset", "-c", str(cpu), str(build / "server"), "0", str(body_bytes), str(requests), *([] if keep_alive else ["close"])]
    with running(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield Server(int(process.stdout.readline()), process.pid, requests)


@contextmanager
def any_server(cpu: int, command: str) -> Iterator[Server]:
    """A command of one process, with ``{port}`` where its port belongs."""
    port = free_port()
    with running(["taskset", "-c", str(cpu), *shlex.split(command.replace("{port}", str(port)))]) as process:
        wait_until_it_listens(port)
        yield Server(port, process.pid)


def worker_of(master_pid: int) -> int:
    """The pid of the only worker: it does the work, so its CPU time is the server's."""
    children = Path(f"/proc/{master_pid}/task/{master_pid}/children").read_text().split()
    return int(children[0])


@contextmanager
def nginx_server(cpu: int, body_bytes: int, build: Path) -> Iterator[Server]:
    """nginx with one worker, and a file of the wanted size."""
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if nginx is None:
        raise RuntimeError("nginx is not installed: apt-get install nginx-light")
    html = build / "html"
    html.mkdir(exist_ok=True)
    build.chmod(0o755)
    (html / "index.html").write_bytes(b"x" * body_bytes)
    port = free_port()
    (build / "nginx.conf").write_text(CONFIGURATION.format(folder=build, port=port))
    command = ["taskset", "-c", str(cpu), nginx, "-c", str(build / "nginx.conf"), "-p", str(build)]
    with running(command, stderr=subprocess.DEVNULL) as process:
        wait_until_it_listens(port)
        yield Server(port, worker_of(process.pid))
