#!/usr/bin/env python3
"""Compare httpbench-loadgen with other load generators in pairs, on pinned CPUs, and print the ratio and spread of each cell.

The server has its own CPUs. The load generators take turns on another CPU, and all use the same congestion control. In a pair,
httpbench-loadgen and its peer run one right after the other, in alternating order, so a disturbance affects both. The result is the median
of the pairs' ratios with its 95% interval, and the quartiles as the spread. If the epoll server sends short responses, both load generators
run at once and take many short turns, and both are started several times. In all other cases, the two halves of a pair are whole runs (see
pairing.py). Peers that aren't on PATH are left out. The two bare clients neither parse nor time responses, so they show the maximum
possible throughput.

Servers for short responses (--server-kind):

- `fifo`: the epoll server with one thread
- `uneven`: the epoll server with work per response and a second thread that handles few of the connections
- `nginx`, `nginx-2`: nginx with one and two workers
- `go`: Go's net/http, the only server without HTTPS

nginx and `nghttpd` serve HTTP/2. If the server uses nearly all of its cores, it limits the throughput.

    benchmarks/loadgen/compare.py --pairs 7 --seconds 3 --markdown table.md --json table.json
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from network import use_one_congestion_control
from nginx import missing as nginx_is_missing
from nginx import nginx_server
from pairing import Pair, in_turns, whole_runs
from peers import PEERS, Load, Peer, Unsupported, native
from servers import Server, any_server, bare_server, go_server, nghttpd_server, tls_is_missing, uneven_options

HERE = Path(__file__).resolve().parent
BODY_FROM_BYTES = 1024
OUR_KINDS = ("fifo", "uneven")
HTTPS_KINDS = (*OUR_KINDS, "nginx", "nginx-2")
KINDS = (*HTTPS_KINDS, "go", "nghttpd")
OTHER = "other"
"""Name of the server given with --server."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of the table: a load and the size of the response body."""

    name: str
    load: Load
    body_bytes: int = 13

    @property
    def is_short(self) -> bool:
        return self.body_bytes < BODY_FROM_BYTES


@dataclass(frozen=True, slots=True)
class Ratio:
    """The result of httpbench-loadgen divided by the peer's. Above 1 is better for throughput, below 1 for CPU time."""

    cell: str
    server: str
    peer: str
    engine: str
    ours_rps: float
    peer_rps: float
    throughput: float
    throughput_quartiles: tuple[float, float]
    throughput_interval: tuple[float, float]
    """95% interval of the median."""
    cpu_per_request: float
    server_cpu_per_request: float
    server_cores: tuple[float, float]
    """CPU seconds of the server per second, with httpbench-loadgen and with the peer."""
    server_cpus: int
    pairs: int
    starts: list[float]
    """For each start, the median ratio of its pairs."""


def cells(selected: str, seconds: float) -> list[Cell]:
    keep_alive = [Cell(f"keep-alive, {c} connections", Load(c, seconds)) for c in (1, 8, 64, 256, 1000)]
    bodies = [Cell(f"body of {size} bytes", Load(64, seconds), size) for size in (1024, 10_240, 65_536, 1 << 20)]
    others = [
        Cell("pipelined 16, 64 connections", Load(64, seconds, pipeline=16)),
        Cell("new connections, 64 at a time", Load(64, seconds, keep_alive=False)),
    ]
    encrypted = [
        Cell("HTTPS, 64 connections", Load(64, seconds, tls=True)),
        Cell("full TLS handshakes, 64 at a time", Load(64, seconds, keep_alive=False, tls=True)),
        Cell("HTTP/2 over TCP, 16 connections with 10 streams", Load(16, seconds, pipeline=10, http2=True)),
        Cell("HTTP/2 over TLS, 16 connections with 10 streams", Load(16, seconds, pipeline=10, http2=True, tls=True)),
    ]
    return [cell for cell in keep_alive + others + bodies + encrypted if selected in cell.name]


def compile_programs(build: Path, kinds: list[str]) -> None:
    """Compile the epoll server and the bare clients. TLS requires OpenSSL's headers, and the io_uring client requires liburing's."""
    sources = {"server": ["server.c"], "server_tls": ["-DTLS", "server.c", "-lssl", "-lcrypto"]}
    sources |= {"client_epoll": ["client_epoll.c"], "client_uring": ["client_uring.c", "-luring"]}
    commands = {program: ["gcc", "-O2", "-pthread", "-o", str(build / program), *words] for program, words in sources.items()}
    if "go" in kinds and shutil.which("go"):
        commands["server_go"] = ["go", "build", "-o", str(build / "server_go"), "main.go"]
    for program, command in commands.items():
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
        if done.returncode != 0:
            print(f"left out: {program} does not compile here ({done.stderr.strip().splitlines()[-1]})", file=sys.stderr)


def throughput_ratio(pair: Pair) -> float:
    mine, theirs = pair
    return mine.usage.throughput_rps / theirs.usage.throughput_rps


def ratio(cell: Cell, kind: str, peer: Peer, ours: Peer, starts: list[list[Pair]], server_cpus: int) -> Ratio:
    """Return the ratio computed from all pairs of all starts.

    The memory layout of a program differs between starts, which changes the throughput by 1 or 2%, so pairs of one start aren't
    independent. With several starts, the result and its interval come from the median of each start.
    """
    pairs = [pair for start in starts for pair in start]
    ratios = sorted(map(throughput_ratio, pairs))
    by_start = [statistics.median(map(throughput_ratio, start)) for start in starts]
    independent = sorted(by_start) if len(by_start) > 1 else ratios
    quartiles = statistics.quantiles(ratios, n=4, method="inclusive") if len(pairs) > 1 else [ratios[0]] * 3
    return Ratio(
        cell=cell.name,
        server=kind,
        peer=peer.name,
        engine=ours.name,
        ours_rps=statistics.median(mine.usage.throughput_rps for mine, _ in pairs),
        peer_rps=statistics.median(theirs.usage.throughput_rps for _, theirs in pairs),
        throughput=statistics.median(independent),
        throughput_quartiles=(quartiles[0], quartiles[2]),
        throughput_interval=interval_of_median(independent),
        cpu_per_request=statistics.median(
            mine.usage.cpu_us_per_request / max(theirs.usage.cpu_us_per_request, 1e-9) for mine, theirs in pairs
        ),
        server_cpu_per_request=statistics.median(mine.server_cpu_us / max(theirs.server_cpu_us, 1e-9) for mine, theirs in pairs),
        server_cores=(
            statistics.median(mine.server_cores for mine, _ in pairs),
            statistics.median(theirs.server_cores for _, theirs in pairs),
        ),
        server_cpus=server_cpus,
        pairs=len(pairs),
        starts=by_start,
    )


def interval_of_median(ordered: list[float]) -> tuple[float, float]:
    """Return the 95% interval of the median, from the binomial distribution of the number of values below it.

    With fewer than six values, the interval is the range from the lowest to the highest. The values are assumed to be independent, so the
    interval is too narrow if a disturbance affects many of them. Source: David and Nagaraja, Order Statistics, 7.1.
    """
    count, below, rank = len(ordered), 0.0, 0
    while (below := below + math.comb(count, rank) / 2**count) <= 0.025:
        rank += 1
    return ordered[max(rank - 1, 0)], ordered[min(count - rank, count - 1)]


COLUMNS = ["load", "server", "peer", "engine", "ours, req/s", "peer, req/s", "ratio (95%)", "quartiles", "pairs, starts"]
COLUMNS += ["generator CPU per request", "server CPU per request", "server cores in use (ours, peer)"]


def markdown(ratios: list[Ratio]) -> str:
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|---|---|---|" + "--:|" * (len(COLUMNS) - 4)]
    for row in ratios:
        low, high = row.throughput_interval
        lower, upper = row.throughput_quartiles
        our_cores, their_cores = row.server_cores
        load = f"| {row.cell} | {row.server} | {row.peer} | {row.engine} | {row.ours_rps:,.0f} | {row.peer_rps:,.0f} "
        figures = f"| **{row.throughput:.3f}** ({low:.3f}–{high:.3f}) | {lower:.3f}–{upper:.3f} | {row.pairs}, {len(row.starts)} "
        cpu = f"| {row.cpu_per_request:.3f} | {row.server_cpu_per_request:.3f} "
        lines.append(load + figures + cpu + f"| {our_cores:.2f}, {their_cores:.2f} of {row.server_cpus} |")
    return "\n".join(lines)


def open_loop(loadgen: str, engine: str, port: int, cpu: int, seconds: float) -> str:
    """Offer 25,000 requests per second and return the achieved share and the schedule lag."""
    command = [
        "taskset",
        "-c",
        str(cpu),
        loadgen,
        "--engine",
        engine,
        "-c",
        "64",
        "-r",
        "25k",
        "-d",
        f"{seconds}s",
        "--warmup",
        "1s",
        "--json",
        "-",
    ]
    result = json.loads(subprocess.run([*command, f"http://127.0.0.1:{port}/"], capture_output=True, text=True, check=True).stdout)
    share = result["requests"]["ok"] / result["requests"]["offered"]
    lag = result["schedule_lag_us"]
    return f"--rate 25k, 64 connections, {engine}: achieved/offered {share:.5f}, schedule lag p50 {lag['p50']} us, p99 {lag['p99']} us"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loadgen", default=shutil.which("httpbench-loadgen"), help="our program (default: the one on PATH)")
    parser.add_argument("--before", help="another build of our program, as one more peer")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3.0, help="length of each run")
    parser.add_argument(
        "--starts", type=int, default=6, help="where runs are cut into turns: start both programs so many times (default: 6)"
    )
    parser.add_argument("--turn-ms", type=float, default=60, help="cut runs into turns of this length where possible; 0: whole runs only")
    parser.add_argument("--engine", default="io_uring,epoll", help="our engines, each compared with every peer")
    parser.add_argument("--server-cpus", "--server-cpu", default="0", help="CPUs of the server, such as 0 or 0,2 (default: 0)")
    parser.add_argument("--generator-cpu", type=int, default=1)
    parser.add_argument("--cell", default="", help="only loads whose name contains this")
    parser.add_argument("--peer", default="", help="only peers whose name contains this")
    parser.add_argument("--server-kind", default="fifo", help=f"servers of short responses, any of {', '.join(KINDS)} (default: fifo)")
    parser.add_argument("--few", type=int, default=2, help="uneven: connections of the second thread (default: 2)")
    parser.add_argument("--work-us", type=int, default=5, help="uneven: work for each response, in microseconds (default: 5)")
    parser.add_argument("--server", help="another server of short responses instead: a command with {port}")
    parser.add_argument("--nginx", action="store_true", help="serve bodies of 1 KiB and more from nginx")
    parser.add_argument(
        "--congestion-control", default="reno", metavar="NAME", help="of all programs; system: the machine's (default: reno)"
    )
    parser.add_argument("--no-rate", action="store_true", help="do not measure how well a rate is kept")
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.loadgen is None:
        parser.error("httpbench-loadgen is not on PATH: name it with --loadgen")
    if len(os.sched_getaffinity(0)) < 2:
        parser.error("needs two CPUs, one for the server and one for the generator")
    kinds = [OTHER] if args.server else args.server_kind.split(",")
    if not args.server and (unknown := set(kinds) - set(KINDS)):
        parser.error(f"unknown kind of server {', '.join(sorted(unknown))}: take {', '.join(KINDS)}")
    try:
        congestion_control = use_one_congestion_control(args.congestion_control)
    except ValueError as error:
        parser.error(str(error))
    ratios: list[Ratio] = []
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder)
        compile_programs(build, kinds)
        for cell in cells(args.cell, args.seconds):
            for kind in kinds_of(cell, kinds, args, build):
                ratios += compare_all(cell, kind, args, build)
        with bare_server(args.server_cpus, 13, build, Load(64, 10)) as server:
            engines = [] if args.no_rate else args.engine.split(",")
            lag = [open_loop(args.loadgen, engine, server.port, args.generator_cpu, 10) for engine in engines]
    text = "\n".join([markdown(ratios), "", congestion_control, *lag])
    print(text)
    if args.markdown:
        args.markdown.write_text(text + "\n")
    if args.json:
        report = {"ratios": [asdict(row) for row in ratios], "congestion_control": congestion_control, "open_loop": lag}
        args.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


def kinds_of(cell: Cell, wanted: list[str], args: argparse.Namespace, build: Path) -> list[str]:
    """Return the kinds of servers to use with this load, and print the kinds that are left out. Large responses use only one kind."""
    if not cell.is_short:
        wanted = ["nginx" if args.nginx else "fifo"]
    elif cell.load.http2:
        wanted = [kind for kind in wanted if kind.startswith("ng")] or ["nginx"]
    elif cell.load.tls:
        wanted = [kind for kind in wanted if kind in HTTPS_KINDS] or ["fifo"]
    reasons = {kind: reason_to_leave_out(cell, kind, args, build) for kind in wanted}
    for kind, reason in reasons.items():
        if reason:
            print(f"left out: {cell.name} with the server {kind}: {reason}", file=sys.stderr)
    return [kind for kind, reason in reasons.items() if not reason]


def reason_to_leave_out(cell: Cell, kind: str, args: argparse.Namespace, build: Path) -> str | None:
    if kind.startswith("nginx"):
        return nginx_is_missing(cell.load)
    if kind in OUR_KINDS and cell.load.tls and (missing := tls_is_missing(build)):
        return missing
    if kind == "nghttpd" and not cell.load.http2:
        return "it answers HTTP/2 only"
    if kind == "nghttpd" and shutil.which("nghttpd") is None:
        return "nghttpd is not on PATH"
    if kind == "go" and shutil.which("go") is None:
        return "go is not on PATH"
    if kind == "uneven" and cell.load.connections < 2 * args.few:
        return f"{cell.load.connections} connections are too few for {args.few} on the second thread"
    return None


def server_for(cell: Cell, kind: str, args: argparse.Namespace, build: Path) -> AbstractContextManager[Server]:
    cpus, size, load = args.server_cpus, cell.body_bytes, cell.load
    if kind.startswith("nginx"):
        return nginx_server(cpus, size, build, load, workers=2 if kind == "nginx-2" else 1)
    if kind == "nghttpd":
        return nghttpd_server(cpus, size, build, load)
    if kind == "go":
        return go_server(cpus, size, build)
    if kind == "uneven":
        return bare_server(cpus, size, build, load, uneven_options(load, args.few, args.work_us))
    return bare_server(cpus, size, build, load) if kind == "fifo" else any_server(cpus, args.server)


def peers(args: argparse.Namespace, build: Path) -> list[Peer]:
    others = [peer for make in PEERS if (peer := make(build)) is not None]
    if args.before:
        others += [replace(native(args.before, engine), name=f"before, {engine}") for engine in args.engine.split(",")]
    return [peer for peer in others if args.peer in peer.name]


def compare_all(cell: Cell, kind: str, args: argparse.Namespace, build: Path) -> list[Ratio]:
    """Compare all peers and engines under one load on one server."""
    ratios, server_cpus = [], count_cpus(args.server_cpus)
    with server_for(cell, kind, args, build) as server:
        for peer in peers(args, build):
            for engine in args.engine.split(","):
                ours = native(args.loadgen, engine)
                try:
                    row = ratio(cell, kind, peer, ours, starts_of(cell, peer, ours, server, args), server_cpus)
                except Unsupported:
                    break
                ratios.append(row)
                print(f"{row.cell}, {row.server}: {row.engine} / {row.peer} = {row.throughput:.3f}", file=sys.stderr)
    return ratios


def count_cpus(cpus: str) -> int:
    """Return the number of CPUs in a list such as 0,2-3."""
    ends = [part.split("-") for part in cpus.split(",")]
    return sum(int(end[-1]) - int(end[0]) + 1 for end in ends)


def starts_of(cell: Cell, peer: Peer, ours: Peer, server: Server, args: argparse.Namespace) -> list[list[Pair]]:
    """Return the pairs of each start.

    The halves of a pair are turns if responses are short and the server counts requests. Otherwise, they are whole runs, because a large
    response that is in flight at the end of a turn would be counted for the wrong load generator. All turns together take at least as long
    as whole runs would. Each pair of whole runs counts as a separate start.
    """
    load, cpu = replace(cell.load, warmup_s=peer.warmup_s), args.generator_cpu
    if args.turn_ms == 0 or server.requests is None or not cell.is_short:
        return [[pair] for pair in whole_runs(ours, peer, load, server, cpu, args.pairs)]
    turn_s = args.turn_ms / 1000
    pairs = max(args.pairs, round(args.pairs * load.seconds / turn_s))
    return [in_turns(ours, peer, load, server, cpu, turn_s, math.ceil(pairs / args.starts)) for _ in range(args.starts)]


if __name__ == "__main__":
    sys.exit(main())
