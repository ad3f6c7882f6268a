#!/usr/bin/env python3
"""Measure how much less noise a comparison has if two servers take turns in slices instead of being measured one after the other.

    benchmarks/interleaving/experiment.py                      five pairs, each without and with another program running
    benchmarks/interleaving/experiment.py --pairs 0,2          only the first and the third pair
    benchmarks/interleaving/experiment.py --repetitions 5      finish sooner, with wider intervals

Each repetition compares the two servers of a pair once in rounds and once in slices, in random order. Both designs start each server three
times and measure it for 2 s per start. For each design, the table shows the standard deviation of the logarithm of the throughput ratio
over the repetitions, with its 95% interval (from the chi-squared distribution). It also shows the ratio of the two standard deviations,
with its 95% interval (from the F distribution). The other program uses all the CPU time it can get, on any core, for a random time of 0.2
to 2 s, and then sleeps for a random time in the same range.

Twenty repetitions of five pairs take several hours. The output is a Markdown table. The exit code is 1 if the interval of a ratio is above
1 without the other program, or reaches one half beside it. On a quiet machine, servers whose starts differ much have the same noise in both
designs, so the estimate itself is above 1 in half of all cases.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import stranger
from scipy import stats

PAIRS = (
    ("c/nginx", "c/epoll/edge"),
    ("golang/fasthttp", "c/nginx"),
    ("rust/hyper", "rust/actix-web"),
    ("node/cluster", "golang/net-http"),
    ("python/gunicorn-meinheld", "node/cluster"),
)
DESIGNS = ("rounds", "slices")
RUN_LIMIT_S = 600


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", default=",".join(map(str, range(len(PAIRS)))), help="numbers of pairs, from 0")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--duration", default="2s")
    parser.add_argument("--warmup", default="1s", help="fixed, because waiting until a noisy machine is steady takes ten seconds")
    parser.add_argument("--beside", choices=[*stranger.BESIDE, "both"], default="both")
    asked = parser.parse_args()
    beside = stranger.BESIDE if asked.beside == "both" else (asked.beside,)
    print(
        "| pair | beside | σ by rounds | σ by slices | slices / rounds | ratio by rounds | ratio by slices | time by rounds | by slices |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        for number in map(int, asked.pairs.split(",")):
            for other in beside:
                with stranger.running(other):
                    kept = row(PAIRS[number], other, asked, Path(folder)) and kept
    return 0 if kept else 1


def row(pair: tuple[str, str], beside: str, asked: argparse.Namespace, folder: Path) -> bool:
    """Measure a pair, print its row, and return whether the noise of slices is low enough."""
    logs: dict[str, list[float]] = {design: [] for design in DESIGNS}
    seconds: dict[str, list[float]] = {design: [] for design in DESIGNS}
    for _ in range(asked.repetitions):
        for design in random.sample(DESIGNS, len(DESIGNS)):
            begin = time.monotonic()
            if (ratio := compared(pair, design, asked, folder)) is not None:
                logs[design].append(math.log(ratio))
            seconds[design].append(time.monotonic() - begin)
    sigma = {design: statistics.stdev(found) for design, found in logs.items()}
    factor = sigma["slices"] / sigma["rounds"]
    low, high = factor_interval(factor, len(logs["slices"]), len(logs["rounds"]))
    cells = [
        " / ".join(pair),
        beside,
        *(f"{sigma[design]:.2%} ({' to '.join(f'{end:.2%}' for end in interval(sigma[design], len(logs[design])))})" for design in DESIGNS),
        f"{factor:.2f} ({low:.2f} to {high:.2f})",
        *(f"{math.exp(statistics.mean(logs[design])):.4f}" for design in DESIGNS),
        *(f"{statistics.median(seconds[design]):.0f} s" for design in DESIGNS),
    ]
    print(f"| {' | '.join(cells)} |", flush=True)
    return high < 0.5 if beside == "stranger" else low <= 1.0


def interval(sigma: float, count: int) -> tuple[float, float]:
    """Return the 95% interval of a standard deviation, assuming normal noise."""
    freedom = count - 1
    return sigma * math.sqrt(freedom / stats.chi2.ppf(0.975, freedom)), sigma * math.sqrt(freedom / stats.chi2.ppf(0.025, freedom))


def factor_interval(factor: float, count: int, other_count: int) -> tuple[float, float]:
    """Return the 95% interval of the ratio of two standard deviations, assuming normal noise."""
    low, high = (stats.f.ppf(level, count - 1, other_count - 1) for level in (0.025, 0.975))
    return factor / math.sqrt(high), factor / math.sqrt(low)


def compared(pair: Sequence[str], design: str, asked: argparse.Namespace, folder: Path) -> float | None:
    """Return the geometric mean of the throughput ratio of the first server to the second, over the rounds.

    A disturbed round is repeated up to twice. If all its attempts were disturbed, the last one counts. Otherwise, some comparisons beside
    the other program would have no ratio by rounds.
    """
    program = str(Path(sys.executable).with_name("httpbench"))
    load = ["-c", "64", "-d", asked.duration, "--warmup", asked.warmup, "--rounds", str(asked.rounds), "--retries", "2"]
    where = ["--db", str(folder / "results.db"), "--export-json", "-", "--quiet"]
    argv = [program, "bench", *pair, "--kind", "server", *load, "--interleave", design, *where]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        sys.exit(done.stderr)
    rates: list[dict[int, float]] = []
    for name in pair:
        (result,) = (each for each in document["results"] if each["target"] == name)
        counting = [each for each in result["rounds"] if each["measurement"] and each["verdict"]["kind"] not in ("invalid", "failed")]
        rates.append({each["round"]: each["measurement"]["throughput_rps"] for each in sorted(counting, key=lambda one: one["attempt"])})
    logs = [math.log(rates[0][number] / rates[1][number]) for number in rates[0].keys() & rates[1].keys()]
    return math.exp(statistics.mean(logs)) if logs else None


if __name__ == "__main__":
    sys.exit(main())
