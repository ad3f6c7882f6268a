"""Run each load generator and parse its report. Each peer has one function, which returns `None` if the peer isn't installed."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

WRK_PIPELINE = """
init = function(args)
  local all = {}
  for i = 1, %d do all[i] = wrk.format() end
  requests = table.concat(all)
end
request = function() return requests end
"""


class Unsupported(Exception):
    """The error for a load that a peer can't generate."""


@dataclass(frozen=True, slots=True)
class Load:
    """A closed loop with one thread."""

    connections: int
    seconds: float
    pipeline: int = 1
    """Number of requests in flight on one connection. With HTTP/2, each request has its own stream."""
    keep_alive: bool = True
    warmup_s: float = 0.0
    tls: bool = False
    http2: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """The result of a run. The CPU time is that of the whole process, including its startup."""

    throughput_rps: float
    requests: float
    cpu_us_per_request: float


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    command: Callable[[Load, int], list[str]]
    read: Callable[[str], float]
    """Function that extracts the throughput in requests/s from the peer's output."""
    warmup_s: float = 0.0
    """Time at the start of a run that the peer excludes from its results by default."""
    in_whole_seconds: bool = False
    """Whether the peer can only run for whole seconds."""

    def pinned(self, load: Load, port: int, cpu: int) -> list[str]:
        return ["taskset", "-c", str(cpu), *self.command(load, port)]

    def run(self, load: Load, port: int, cpu: int) -> Usage:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            self.pinned(load, port, cpu),
            capture_output=True,
            text=True,
            timeout=load.seconds * 3 + 30,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            throughput_rps = self.read(done.stdout)
        except (ValueError, KeyError, AttributeError) as error:
            raise RuntimeError(f"{self.name}: can't parse the output: {(done.stderr or done.stdout)[-500:]}") from error
        if throughput_rps <= 0:
            raise RuntimeError(f"{self.name} got no response in {load.seconds:g} s")
        seconds = whole_seconds(load) if self.in_whole_seconds else load.seconds
        requests = throughput_rps * (seconds + load.warmup_s)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Usage(throughput_rps, requests, cpu_s / max(requests, 1.0) * 1e6)


def url(load: Load, port: int) -> str:
    return f"{'https' if load.tls else 'http'}://127.0.0.1:{port}/"


def found(pattern: str) -> Callable[[str], float]:
    """Return a function that reads the number captured by the pattern."""

    def read(text: str) -> float:
        match = re.search(pattern, text)
        if match is None:
            raise ValueError(pattern)
        return float(match[1].replace(",", ""))

    return read


def native(program: str, engine: str) -> Peer:
    """Return httpbench-loadgen as a peer."""

    def command(load: Load, port: int) -> list[str]:
        more = [] if load.keep_alive else ["--no-keepalive"]
        more += ["--pipeline", str(load.pipeline)] if load.pipeline > 1 else []
        more += ["--warmup", f"{load.warmup_s}s"] if load.warmup_s else []
        more += ["--insecure"] if load.tls else []
        more += ["--http2"] if load.http2 else []
        return [
            program,
            "--engine",
            engine,
            "-c",
            str(load.connections),
            "-d",
            f"{load.seconds}s",
            "--json",
            "-",
            *more,
            url(load, port),
        ]

    def read(text: str) -> float:
        result = json.loads(text)
        failed = sum(result["errors"].values())
        if failed:
            raise ValueError(f"{failed} errors")
        return float(result["throughput_rps"])

    return Peer(engine, command, read)


def bare(name: str) -> Callable[[Path], Peer | None]:
    def make(build: Path) -> Peer | None:
        def command(load: Load, port: int) -> list[str]:
            if not load.keep_alive or load.tls or load.http2:
                raise Unsupported
            return [str(build / name), str(port), str(load.connections), str(load.pipeline), str(load.seconds)]

        return Peer(f"bare {name}", command, lambda text: float(json.loads(text)["throughput_rps"])) if (build / name).exists() else None

    return make


def on_path(
    name: str, command: Callable[[str, Load, int], list[str]], read: Callable[[str], float], warmup_s: float = 0.0
) -> Callable[[Path], Peer | None]:
    def make(_build: Path) -> Peer | None:
        program = shutil.which(name)
        return Peer(name, lambda load, port: command(program, load, port), read, warmup_s, in_whole_seconds=True) if program else None

    return make


def whole_seconds(load: Load) -> int:
    return max(1, round(load.seconds))


def wrk(program: str, load: Load, port: int) -> list[str]:
    if load.http2:
        raise Unsupported
    command = [program, "-t1", f"-c{load.connections}", f"-d{whole_seconds(load)}s"]
    if load.pipeline > 1:
        descriptor, script = tempfile.mkstemp(suffix=".lua", text=True)
        with os.fdopen(descriptor, "w") as file:
            file.write(WRK_PIPELINE % load.pipeline)
        command += ["-s", script]
    if not load.keep_alive:
        command += ["-H", "Connection: close"]
    return [*command, url(load, port)]


def hey(program: str, load: Load, port: int) -> list[str]:
    if load.pipeline > 1 or load.http2:
        raise Unsupported
    more = [] if load.keep_alive else ["-disable-keepalive"]
    return ["env", "GOMAXPROCS=1", program, "-c", str(load.connections), "-z", f"{whole_seconds(load)}s", *more, url(load, port)]


def oha(program: str, load: Load, port: int) -> list[str]:
    if load.pipeline > 1 and not load.http2:
        raise Unsupported
    more = [] if load.keep_alive else ["--disable-keepalive"]
    more += ["--http2", "-p", str(load.pipeline)] if load.http2 else []
    more += ["--insecure"] if load.tls else []
    return [program, "--no-tui", "-c", str(load.connections), "-z", f"{whole_seconds(load)}s", *more, url(load, port)]


def h2load(program: str, load: Load, port: int) -> list[str]:
    """Return the command of h2load. It can't measure a server that closes connections, because it then reconnects forever."""
    if not load.keep_alive:
        raise Unsupported
    return [
        program,
        *([] if load.http2 else ["--h1"]),
        "-t1",
        f"-c{load.connections}",
        f"-m{load.pipeline}",
        f"-D{whole_seconds(load)}",
        url(load, port),
    ]


def autocannon(program: str, load: Load, port: int) -> list[str]:
    if not load.keep_alive or load.tls or load.http2:
        raise Unsupported
    return [program, "-j", "-c", str(load.connections), "-p", str(load.pipeline), "-d", str(whole_seconds(load)), url(load, port)]


def gcannon(program: str, load: Load, port: int) -> list[str]:
    if not load.keep_alive or load.tls or load.http2:
        raise Unsupported
    return [
        program,
        url(load, port),
        "-c",
        str(load.connections),
        "-t",
        "1",
        "-d",
        f"{whole_seconds(load)}s",
        "-p",
        str(load.pipeline),
        "--json",
    ]


def zrk(program: str, load: Load, port: int) -> list[str]:
    if load.pipeline > 1 or not load.keep_alive or load.tls or load.http2:
        raise Unsupported
    return [program, "-t1", f"-c{load.connections}", f"-d{whole_seconds(load)}s", url(load, port)]


def s_time(program: str, load: Load, port: int) -> list[str]:
    """Return the command that measures full handshakes with OpenSSL. It has only one connection at a time."""
    if load.keep_alive or not load.tls or load.http2:
        raise Unsupported
    return [program, "s_time", "-connect", f"127.0.0.1:{port}", "-new", "-www", "/", "-time", str(whole_seconds(load))]


def s_time_rps(text: str) -> float:
    """Return the connections per second. The time in the output is rounded to seconds, so only turns give an exact result."""
    match = re.search(r"(\d+) connections in (\d+) real seconds", text)
    if match is None:
        raise ValueError("connections")
    return int(match[1]) / int(match[2])


WRK_LINE = r"Requests/sec:\s+([\d.,]+)"
PEERS: list[Callable[[Path], Peer | None]] = [
    bare("client_epoll"),
    bare("client_uring"),
    on_path("wrk", wrk, found(WRK_LINE)),
    on_path("gcannon", gcannon, lambda text: float(json.loads(text)["rps"]), warmup_s=0.1),
    on_path("oha", oha, found(WRK_LINE)),
    on_path("h2load", h2load, found(r"finished in [\d.]+m?s, ([\d.]+) req/s")),
    on_path("hey", hey, found(WRK_LINE)),
    on_path("autocannon", autocannon, lambda text: float(json.loads(text)["requests"]["average"])),
    on_path("zrk", zrk, found(WRK_LINE)),
    on_path("openssl", s_time, s_time_rps),
]
