"""Tests of ``benchmarks/loadgen/compare.py``, which compares our load generator with others. They don't check performance."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from httpbench import load

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "loadgen" / "compare.py"
OPENSSL_HEADER = Path("/usr/include/openssl/ssl.h")
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
KINDS = {"fifo": "gcc", "uneven": "gcc", "nginx": "nginx", "nginx-2": "nginx", "go": "go"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="the comparison needs two CPUs"),
]


def is_installed(program: str) -> bool:
    return bool(shutil.which(program) or shutil.which(program, path=SYSTEM_PATH))


def require(*programs: str) -> None:
    """Skip the test if a program is missing. Tests of several servers call this at the end for those that they had to leave out."""
    for program in programs:
        if not is_installed(program):
            pytest.skip(f"{program} is not installed")


def compare(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    ours = ("--loadgen", load.get("native").program(), "--engine", "epoll", "--no-rate", "--starts", "1")
    command = [sys.executable, str(SCRIPT), *ours, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}, check=False)


def compared(folder: Path, *words: str) -> dict[str, Any]:
    table = folder / "table.json"
    done = compare("--json", str(table), *words)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(table.read_text())
    return report


def rows(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a report, whose figures can be true."""
    for row in report["ratios"]:
        low, high = row["throughput_interval"]
        assert 0 < low <= row["throughput"] <= high
        assert row["ours_rps"] > 0 < row["peer_rps"]
        assert row["cpu_per_request"] > 0 < row["server_cpu_per_request"]
        assert all(cores > 0 for cores in row["server_cores"])
    return list(report["ratios"])


def only_row(report: dict[str, Any]) -> dict[str, Any]:
    (row,) = rows(report)
    return row


@pytest.mark.parametrize(("turn_ms", "starts", "pairs"), [("20", 1, 35), ("20", 2, 36), ("0", 7, 7)])
def test_the_number_of_pairs_depends_on_turns_and_starts(tmp_path: Path, turn_ms: str, starts: int, pairs: int) -> None:
    words = ("--pairs", "7", "--seconds", "0.1", "--turn-ms", turn_ms, "--starts", str(starts), "--cell", "keep-alive, 8 ")
    row = only_row(compared(tmp_path, *words, "--peer", "client_epoll"))
    assert (len(row["starts"]), row["pairs"]) == (starts, pairs)


def test_every_kind_of_server_sends_short_responses(tmp_path: Path) -> None:
    kinds = [kind for kind, program in KINDS.items() if is_installed(program)]
    words = ("--pairs", "2", "--seconds", "0.5", "--cell", "keep-alive, 8 ", "--peer", "client_epoll", "--server-kind", ",".join(kinds))
    assert [row["server"] for row in rows(compared(tmp_path, *words))] == kinds
    require(*KINDS.values())


def test_our_servers_and_nginx_support_https(tmp_path: Path) -> None:
    require("gcc", "openssl", "wrk", "nginx")
    if not OPENSSL_HEADER.exists():
        pytest.skip("libssl-dev is not installed")
    words = ("--pairs", "1", "--seconds", "1", "--cell", "HTTPS", "--peer", "wrk", "--server-kind", "fifo,uneven,nginx,go")
    assert [row["server"] for row in rows(compared(tmp_path, *words))] == ["fifo", "uneven", "nginx"], "go is left out"


def test_handshakes_are_compared_with_openssl(tmp_path: Path) -> None:
    require("gcc", "openssl")
    if not OPENSSL_HEADER.exists():
        pytest.skip("libssl-dev is not installed")
    words = ("--pairs", "2", "--seconds", "1", "--cell", "full TLS handshakes", "--peer", "openssl")
    assert only_row(compared(tmp_path, *words))["peer"] == "openssl"


def test_a_peers_requests_are_its_rate_times_its_whole_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    wrk = tmp_path / "wrk"
    wrk.write_text('#!/bin/sh\necho "Requests/sec: 100"\n')
    wrk.chmod(0o755)
    peers = importlib.import_module("peers")
    (peer,) = [found for make in peers.PEERS if (found := make(tmp_path)) is not None and found.name == "wrk"]
    assert peer.run(peers.Load(1, seconds=1.5), 1, 0).requests == 200


def test_nginx_and_nghttpd_support_http2(tmp_path: Path) -> None:
    require("nginx", "openssl", "h2load")
    kinds = [kind for kind in ("nginx", "nghttpd") if is_installed(kind)]
    words = ("--pairs", "1", "--seconds", "1", "--cell", "HTTP/2 over", "--peer", "h2load", "--server-kind", ",".join(kinds))
    found = rows(compared(tmp_path, *words))
    assert [(row["cell"][:15], row["server"]) for row in found] == [
        (f"HTTP/2 over {over}", kind) for over in ("TCP", "TLS") for kind in kinds
    ]
    assert {row["server_cpus"] for row in found if row["server"] == "nginx"} == {1}
    require("nghttpd")


def test_new_connections_are_compared_in_turns(tmp_path: Path) -> None:
    require("wrk")
    row = only_row(compared(tmp_path, "--pairs", "2", "--seconds", "0.2", "--cell", "new connections", "--peer", "wrk"))
    assert row["server"] == "fifo"


def test_every_program_uses_the_same_congestion_control(tmp_path: Path) -> None:
    allowed = shutil.which("unshare") and subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode == 0
    expected = "reno for all programs" if allowed else "no network namespace is allowed here"
    before = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text()
    assert expected in compared(tmp_path, "--cell", "no such load")["congestion_control"]
    assert before.strip() in compared(tmp_path, "--cell", "no such load", "--congestion-control", "system")["congestion_control"]
    assert Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text() == before
    if allowed:
        assert "cannot use the congestion control nonesuch" in compare("--congestion-control", "nonesuch").stderr


def test_a_servers_missing_programs_are_reported() -> None:
    if shutil.which("go", path=SYSTEM_PATH):
        pytest.skip("go is where everything else is, so it cannot be missing")
    words = ("--cell", "keep-alive, 1 ", "--peer", "client_epoll")
    done = compare("--server-kind", "go,uneven", *words, PATH=SYSTEM_PATH)
    assert done.returncode == 0, done.stderr
    assert "keep-alive, 1 connections with the server go: go is not on PATH" in done.stderr
    assert "uneven: 1 connections are too few for 2 on the second thread" in done.stderr


def test_an_unknown_kind_of_server_is_a_usage_error() -> None:
    done = compare("--server-kind", "fifo,apache")
    assert done.returncode == 2
    assert "unknown kind of server apache: take fifo, uneven, nginx, nginx-2, go, nghttpd" in done.stderr
