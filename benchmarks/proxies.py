#!/usr/bin/env python3
"""Check how httpbench measures proxies. This requires a quiet machine with two cores. Tune a virtual machine with ``httpbench tune apply``.

proxies.py known-overhead [ROUNDS]        a test proxy delays every hundredth chunk by 1 ms; the result may be off by up to 0.1 ms (3 min)
proxies.py perf-gauge [ROW] [ROUNDS]      compare perf-gauge with httpbench-loadgen at full throughput, in alternating runs
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram

ROOT = Path(__file__).resolve().parent.parent
ADDED_US = 1000.0
LATE_OF = 50
"""One in this many requests is late."""
QUANTILES = 20
"""Number of quantiles that represent the distribution of the recorded delays."""
HOUR_NS = 3600 * 10**9
TOLERANCE = 0.1
GENERATORS = ("native", "perf-gauge")
FIGURES = ("p50", "p90", "p99", "mean")


def bench(*words: str) -> dict[str, dict[str, Any]]:
    """Run ``httpbench bench`` and return the results by target, including trials that aren't valid."""
    with tempfile.TemporaryDirectory() as folder:
        argv = ("httpbench", "bench", *words, "--db", f"{folder}/runs.db", "--export-json", "-")
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout:
        sys.exit(f"no output from {' '.join(argv)}")
    return {result["target"]: result for result in json.loads(done.stdout)["results"]}


def known_overhead(rounds: str = "21") -> None:
    """Check that the measured overhead of a test proxy differs from the expected overhead by at most 10% of the added delay.

    A request is one chunk and its response is another, so 2% of the requests are late. The expected overhead is the difference between
    two p99s. The first p99 is computed from the response times through the same proxy without a delay, after adding the recorded delays to
    2% of them. The second p99 is that of the baseline.
    """
    late, good = "proxy:test/relaying/late-1ms", "proxy:test/relaying/good"
    load = ("--workload", "proxy-hello", "-c", "16", "--rate", "2000", "-d", "2s", "--warmup", "300ms", "--rounds", rounds)
    with tempfile.NamedTemporaryFile("r") as held_up:
        os.environ["RELAY_HELD_UP"] = held_up.name
        results = bench("--targets", str(ROOT / "tests/targets"), late, good, *load)
        held_up_ns = [int(line) for line in held_up]
    usual, direct = times(results[good]), times(results["baseline"])
    if "p99" not in results[late]["overhead"] or not usual.keys() & direct.keys():
        sys.exit("no result: " + ", ".join(f"{name}: {result['verdict']}" for name, result in results.items()))
    found = results[late]["overhead"]["p99"]
    parts_ns = [int(part) for part in statistics.quantiles(held_up_ns, n=QUANTILES + 1)]
    truth_us = statistics.median(p99_with_late(usual[number], parts_ns) - direct[number]["p99"] for number in usual.keys() & direct.keys())
    error = (found["us"] - truth_us) / ADDED_US
    print(f"added at p99: {found['us']:.0f} µs, median of {found['rounds']} rounds")
    late_us = statistics.median(held_up_ns) / 1000
    print(f"expected: {truth_us:.0f} µs, because two of a hundred requests were late by {late_us:.0f} µs; error: {error:+.1%} of the delay")
    sys.exit(abs(error) > TOLERANCE)


def p99_with_late(usual: dict[str, Any], parts_ns: list[int]) -> float:
    """Add one of the delays, chosen at random, to one in fifty of the usual times, and return the resulting p99 in µs."""
    both = HdrHistogram(1, HOUR_NS, 3)
    for step in HdrHistogram.decode(usual["histogram"]).get_recorded_iterator():
        value_ns, count = int(step.value_iterated_to), int(step.count_added_in_this_iter_step)
        both.record_value(value_ns, count * (LATE_OF - 1) * len(parts_ns))
        for part_ns in parts_ns:
            both.record_value(value_ns + part_ns, count)
    return float(both.get_value_at_percentile(99)) / 1000


def times(result: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Return the distribution of response times, in µs, of each round that isn't invalid or failed."""
    counts = [trial for trial in result["rounds"] if trial["verdict"]["kind"] not in ("invalid", "failed")]
    return {trial["round"]: trial["measurement"]["response_time_us"] for trial in counts}


def perf_gauge(row: str = "proxy:c/haproxy", rounds: str = "3") -> None:
    """Compare the two load generators in alternating runs of one round each."""
    lines: dict[tuple[str, str], list[dict[str, float]]] = {}
    for _ in range(int(rounds)):
        for generator in GENERATORS:
            results = bench(row, "-c", "50", "-d", "5s", "--warmup", "2s", "--rounds", "1", "--load-generator", generator)
            for target, result in results.items():
                (trial,) = result["rounds"]
                if trial["verdict"]["kind"] in ("invalid", "failed"):
                    print(f"{generator} {target}: {trial['verdict']['reasons']}", file=sys.stderr)
                    continue
                measured = trial["measurement"]
                times = measured["service_time_us"]
                figures = {"rps": measured["throughput_rps"], **{name: times[name] for name in FIGURES}}
                lines.setdefault((target, generator), []).append(figures)
    print(f"{'row':24} {'generator':12} {'requests/s':>20} " + " ".join(f"{name + ' (µs)':>16}" for name in FIGURES))
    for (target, generator), found in sorted(lines.items()):
        cells = [_spread([line[name] for line in found]) for name in ("rps", *FIGURES)]
        print(f"{target:24} {generator:12} {cells[0]:>20} " + " ".join(f"{cell:>16}" for cell in cells[1:]))
    print("median of rounds, ± half their range. perf-gauge: service time after its rate limiter, bodies not checked.")


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):,.0f} ± {(max(values) - min(values)) / 2:,.0f}"


if __name__ == "__main__":
    experiments = {"known-overhead": known_overhead, "perf-gauge": perf_gauge}
    if len(sys.argv) < 2 or sys.argv[1] not in experiments:
        sys.exit(__doc__)
    experiments[sys.argv[1]](*sys.argv[2:])
