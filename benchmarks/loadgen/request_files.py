#!/usr/bin/env python3
"""Compare the throughput of requests from a file with that of one constant request, in pairs, on pinned CPUs.

Both halves of a pair are runs of httpbench-loadgen that take turns, as in compare.py, so a disturbance affects both. One sends the same
request each time. The other one sends requests of the same length with different paths: the URLs of a list, each of which has results of
its own, or the rows of a data file. A ratio of 1 means that requests from a file are as fast as a constant request. The epoll server only
counts bytes, because comparing requests with the previous ones would make different requests slower for the server.

    benchmarks/loadgen/request_files.py --loadgen target/release/httpbench-loadgen --pairs 7 --seconds 3 --starts 6

HTTP/2 requires nginx, and HTTPS requires libssl-dev and openssl. Loads without these are left out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from compare import Cell, Ratio, compile_programs, markdown, ratio
from network import use_one_congestion_control
from nginx import missing as nginx_is_missing
from nginx import nginx_server
from pairing import Pair, in_turns, whole_runs
from peers import Load, Peer, native
from servers import Server, bare_server, tls_is_missing

SERVER_CPU, GENERATOR_CPU = "0", 1
TURN_S = 0.06
FILES = {"16 URLs": 16, "100 rows": 100, "1,000 rows": 1_000, "100,000 rows": 100_000}
URLS_MAX = 16


def write_requests(path: Path, count: int) -> None:
    """Write a file of requests whose paths differ but have the same length. If there are few of them, their names differ, too."""
    requests = [{"name": f"url-{number}" if 1 < count <= URLS_MAX else "row", "path": f"/?id={number:06}"} for number in range(count)]
    path.write_text(json.dumps(requests))


def sending(peer: Peer, name: str, requests: Path) -> Peer:
    """Return a load generator that sends the requests of a file."""

    def command(load: Load, port: int) -> list[str]:
        *words, url = peer.command(load, port)
        return [*words, "--mix", str(requests), url]

    return replace(peer, name=name, command=command)


def cells(seconds: float) -> list[Cell]:
    return [
        Cell("keep-alive, 64 connections", Load(64, seconds)),
        Cell("pipelined 16, 64 connections", Load(64, seconds, pipeline=16)),
        Cell("HTTPS, 64 connections", Load(64, seconds, tls=True)),
        Cell("HTTP/2 over TCP, 16 connections with 10 streams", Load(16, seconds, pipeline=10, http2=True)),
        Cell("HTTP/2 over TLS, 16 connections with 10 streams", Load(16, seconds, pipeline=10, http2=True, tls=True)),
    ]


def missing(load: Load, build: Path) -> str | None:
    """Return why this machine has no server for a load, or ``None``."""
    return nginx_is_missing(load) if load.http2 else tls_is_missing(build) if load.tls else None


def server_for(load: Load, build: Path) -> AbstractContextManager[Server]:
    return nginx_server(SERVER_CPU, 13, build, load, workers=1) if load.http2 else bare_server(SERVER_CPU, 13, build, load, ("-l",))


def starts_of(ours: Peer, constant: Peer, load: Load, server: Server, args: argparse.Namespace) -> list[list[Pair]]:
    """Return the pairs of each start: turns if the server counts its requests, else whole runs."""
    if server.requests is None:
        return [[pair] for pair in whole_runs(ours, constant, load, server, GENERATOR_CPU, args.pairs)]
    pairs = math.ceil(max(args.pairs, args.pairs * load.seconds / TURN_S) / args.starts)
    return [in_turns(ours, constant, load, server, GENERATOR_CPU, TURN_S, pairs) for _ in range(args.starts)]


def compared(cell: Cell, args: argparse.Namespace, build: Path) -> list[Ratio]:
    rows = []
    with server_for(cell.load, build) as server:
        for engine in args.engine.split(","):
            constant = sending(native(args.loadgen, engine), "one request", build / "1.json")
            for name, count in FILES.items():
                ours = sending(native(args.loadgen, engine), f"{engine}, {name}", build / f"{count}.json")
                starts = starts_of(ours, constant, cell.load, server, args)
                row = ratio(cell, "nginx" if cell.load.http2 else "fifo", constant, ours, starts, server_cpus=1)
                print(f"{row.cell}: {row.engine} / {row.peer} = {row.throughput:.3f}", file=sys.stderr)
                rows.append(row)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loadgen", default=shutil.which("httpbench-loadgen"), help="httpbench-loadgen (default: the one on PATH)")
    parser.add_argument("--pairs", type=int, default=7, help="pairs of runs; cut into turns where the server counts requests (default: 7)")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of each run (default: 3)")
    parser.add_argument("--starts", type=int, default=6, help="where runs are cut into turns: starts of both programs (default: 6)")
    parser.add_argument("--engine", default="io_uring,epoll", help="engines (default: both)")
    parser.add_argument("--cell", default="", help="only loads whose name contains this")
    parser.add_argument("--markdown", type=Path, help="also write the table to this file")
    args = parser.parse_args()
    if args.loadgen is None:
        parser.error("httpbench-loadgen is not on PATH: name it with --loadgen")
    if len(os.sched_getaffinity(0)) < 2:
        parser.error("needs two CPUs, one for the server and one for the generator")
    congestion_control, rows = use_one_congestion_control("reno"), list[Ratio]()
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder)
        build.chmod(0o755)
        compile_programs(build, [])
        for count in (1, *FILES.values()):
            write_requests(build / f"{count}.json", count)
        for cell in cells(args.seconds):
            if args.cell not in cell.name:
                continue
            if reason := missing(cell.load, build):
                print(f"left out: {cell.name}: {reason}", file=sys.stderr)
            else:
                rows += compared(cell, args, build)
    text = f"{markdown(rows)}\n\n{congestion_control}"
    print(text)
    if args.markdown:
        args.markdown.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
