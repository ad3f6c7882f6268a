#!/usr/bin/env python3
"""Check that slices and whole trials measure the same ratio between two servers, although servers are frozen between slices.

    benchmarks/interleaving/agreement.py                ten pairs of servers under different loads
    benchmarks/interleaving/agreement.py --cases 5,8    only these cases, from 0

Each case compares two servers once in slices and once in whole trials, with the same number of rounds and measured seconds. Its ratio is
that of throughput or, at a fixed rate, of the median response time. The servers differ in how they might suffer from frozen time: JIT
compilers, garbage collectors, interpreters, and memory that doesn't fit the L2 cache.

The Markdown table shows both ratios with their 95% intervals (Student's t over the logarithms of rounds). The exit code is 1 if the
difference of the two logarithms lies outside its own 95% interval in more than one case, which happens in one run of ten if all ratios are
equal. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy import stats

HERE = Path(__file__).resolve().parent
DESIGNS = ("slices", "rounds")
RUN_LIMIT_S = 900
JAVA = f"java {HERE / 'Server.java'} {{host}} {{port}}"
DISAGREEING_MAX = 1
THROUGHPUT, MEDIAN = "throughput", "median response time"


@dataclass(frozen=True, slots=True)
class Case:
    """Two servers, which are targets or commands, and a load."""

    servers: tuple[str, str]
    load: tuple[str, ...] = ("-c", "64")
    figure: str = THROUGHPUT
    warmup: str | None = None
    """Length of the warm-up. ``None``: the usual length."""


def cases(known_cost: str) -> tuple[Case, ...]:
    """Return all cases. ``known_cost`` is the path of the server with a known cost per request."""
    hello, large = (f"{known_cost} {{host}} {{port}} {cost}" for cost in ("5000 0", "0 0 30"))
    return (
        Case(("c/nginx", "golang/net-http")),
        Case(("golang/fasthttp", "rust/hyper")),
        Case(("node/cluster", "python/gunicorn-meinheld")),
        # Java's JIT compiler works for several seconds. In slices, a server runs up to twice as long for the same measured time, so it
        # would be faster than in whole trials.
        Case((JAVA, hello), warmup="8s"),
        Case((large, hello)),
        Case(("c/nginx", "golang/net-http"), ("-c", "64", "--tls")),
        Case(("c/nginx", "golang/net-http"), ("-c", "512")),
        Case(("c/epoll/edge", "rust/hyper"), ("-c", "64", "--pipeline", "16")),
        Case(("rust/actix-web", "golang/net-http"), ("-c", "8")),
        Case(("c/nginx", "golang/net-http"), ("-c", "64", "--rate", "20000"), MEDIAN),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", help="numbers of cases, from 0 [default: all]")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--duration", default="2s")
    parser.add_argument("--warmup", default="2s")
    asked = parser.parse_args()
    print("| servers | load | ratio in slices | in whole trials | difference |\n|---|---|--:|--:|--:|", flush=True)
    disagreeing = 0
    with tempfile.TemporaryDirectory() as folder:
        known_cost = Path(folder, "known-cost")
        subprocess.run(["cc", "-O2", "-o", str(known_cost), str(HERE / "server.c")], check=True)
        every = cases(str(known_cost))
        for number in map(int, asked.cases.split(",")) if asked.cases else range(len(every)):
            case = every[number]
            logs = {design: measured(case, design, asked, Path(folder)) for design in DESIGNS}
            (one, one_error), (other, other_error) = (mean_and_error(logs[design]) for design in DESIGNS)
            freedom = min(map(len, logs.values())) - 1
            reach = float(stats.t.ppf(0.975, freedom)) * math.hypot(one_error, other_error)
            disagreeing += abs(one - other) > reach
            cells = [
                " / ".join(name.removeprefix(f"{folder}/").replace(f"{HERE}/", "").partition(" {host}")[0] for name in case.servers),
                " ".join(case.load) + (f", {case.figure}" if case.figure != THROUGHPUT else ""),
                *(interval_text(logs[design]) for design in DESIGNS),
                f"{math.expm1(one - other):+.1%} ± {reach:.1%}",
            ]
            print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\n{disagreeing} cases disagree")
    return 0 if disagreeing <= DISAGREEING_MAX else 1


def measured(case: Case, design: str, asked: argparse.Namespace, folder: Path) -> list[float]:
    """Return the logarithm of the ratio of the first server to the second in each valid round."""
    program = str(Path(sys.executable).with_name("httpbench"))
    is_command = any("{port}" in server for server in case.servers)
    names = ("command/first", "command/second") if is_command else case.servers
    verb = ["run", "--shell", "--name", "first", "--name", "second"] if is_command else ["bench", "--kind", "server"]
    time = ["-d", asked.duration, "--warmup", case.warmup or asked.warmup, "--rounds", str(asked.rounds), "--interleave", design]
    where = ["--db", str(folder / "results.db"), "--export-json", "-", "--quiet"]
    argv = [program, *verb, *case.servers, *case.load, *time, *where]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        sys.exit(done.stderr)
    by_target: dict[str, dict[int, float]] = {}
    for result in document["results"]:
        valid = [each for each in result["rounds"] if each["measurement"] and each["verdict"]["kind"] not in ("invalid", "failed")]
        by_target[result["target"]] = {each["round"]: figure_of(case, each["measurement"]) for each in valid}
    first, second = (by_target[name] for name in names)
    return [math.log(first[number] / second[number]) for number in first.keys() & second.keys()]


def figure_of(case: Case, measurement: dict[str, object]) -> float:
    if case.figure == THROUGHPUT:
        return float(str(measurement["throughput_rps"]))
    times = measurement["response_time_us"]
    assert isinstance(times, dict)
    return float(times["p50"])


def mean_and_error(logs: Sequence[float]) -> tuple[float, float]:
    return statistics.mean(logs), statistics.stdev(logs) / math.sqrt(len(logs))


def interval_text(logs: Sequence[float]) -> str:
    mean, error = mean_and_error(logs)
    reach = float(stats.t.ppf(0.975, len(logs) - 1)) * error
    return f"{math.exp(mean):.3f} ({math.exp(mean - reach):.3f} to {math.exp(mean + reach):.3f})"


if __name__ == "__main__":
    sys.exit(main())
