"""Serve a file of a given size with nginx, over HTTP/1.1 or HTTP/2, with or without TLS."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from peers import Load
from servers import START_TIMEOUT_S, Server, free_port, lay_out, running, wait_until_it_listens

CONFIGURATION = """
daemon off; worker_processes {workers}; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 8192; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=10;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{ listen 127.0.0.1:{port} backlog=4096{listen}; root {folder}/html; {tls} }}
}}
"""
# Only one cipher is allowed, because load generators would otherwise choose different ciphers.
TLS = """ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/key.pem; ssl_protocols TLSv1.3;
  ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;"""


def program() -> str | None:
    return shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")


def missing(load: Load) -> str | None:
    """Return why this machine can't run nginx for this load, or ``None``."""
    if program() is None:
        return "nginx is not installed"
    return "openssl is not installed" if load.tls and shutil.which("openssl") is None else None


def workers_of(master_pid: int, count: int) -> tuple[int, ...]:
    """Return the pids of nginx's worker processes, whose CPU time is the server's CPU time."""
    end_s = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < end_s:
        children = Path(f"/proc/{master_pid}/task/{master_pid}/children").read_text().split()
        if len(children) == count:
            return tuple(map(int, children))
        time.sleep(0.02)
    raise RuntimeError(f"nginx has not started {count} workers within {START_TIMEOUT_S} s")


@contextmanager
def nginx_server(cpus: str, body_bytes: int, build: Path, load: Load, workers: int = 1) -> Iterator[Server]:
    """Start nginx and yield the server.

    `listen` has the parameter `http2`, because versions before 1.25.1 have no other way to enable HTTP/2. Later versions accept it with a
    warning.
    """
    executable = program()
    assert executable is not None
    lay_out(build, body_bytes, load)
    listen = (" ssl" if load.tls else "") + (" http2" if load.http2 else "")
    port, tls = free_port(), TLS.format(folder=build) if load.tls else ""
    (build / "nginx.conf").write_text(CONFIGURATION.format(folder=build, port=port, workers=workers, listen=listen, tls=tls))
    command = ["taskset", "-c", cpus, executable, "-c", str(build / "nginx.conf"), "-p", str(build)]
    with running(command, stderr=subprocess.DEVNULL) as process:
        wait_until_it_listens(port)
        yield Server(port, workers_of(process.pid, workers))
