#!/usr/bin/env python3
"""Measure how much noise a comparison has with slices of different lengths, to choose the usual length.

    benchmarks/interleaving/length.py                            slices of 25, 50, 100, 200 and 400 ms
    benchmarks/interleaving/length.py --lengths 0.1,0.25         other lengths, in seconds
    benchmarks/interleaving/length.py --repetitions 20           a steadier table

Two equal servers with a known cost per request take turns in one round, for the same measured time at each length. The repetitions run one
after the other, with all lengths in random order, because the noise of a machine changes over time. The Markdown table shows the root mean
square, over repetitions, of the standard deviation of the log ratio of two neighboring slices. It also shows the time for a slice with its
lead-in, its drain and the reading of all counters, and the standard deviation that follows for the mean of all pairs that fit into 10 s.
Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from truth import SHORT, WORK_STEPS, built, output

COMPARED_S = 10
PROGRAM = """
import sys
from httpbench.cli import main
from httpbench.run.plan import slices
slices.SLICE_S = float(sys.argv.pop(1))
main()
"""
"""Runs httpbench with another length of slices, because users can't choose it."""
PART = 4
"""Divisor for the duration of a second, shorter run. The time per slice follows from the difference between the two."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", default="0.025,0.05,0.1,0.2,0.4", help="lengths of a slice, in seconds")
    parser.add_argument("--repetitions", type=int, default=6)
    parser.add_argument("--duration", type=float, default=8.0, help="measured time of each server, in seconds")
    asked = parser.parse_args()
    lengths = [float(length) for length in asked.lengths.split(",")]
    variances: dict[float, list[float]] = {length: [] for length in lengths}
    turns_s: dict[float, list[float]] = {length: [] for length in lengths}
    with built() as (server, folder):
        for _ in range(asked.repetitions):
            for length in random.sample(lengths, len(lengths)):
                variance, turn_s = measured(server, folder, length, asked.duration)
                variances[length].append(variance)
                turns_s[length].append(turn_s)
    print(f"| slice | noise of a pair | time per slice | noise of {COMPARED_S} s |\n|--:|--:|--:|--:|")
    for length in lengths:
        noise, turn_s = math.sqrt(statistics.mean(variances[length])), statistics.median(turns_s[length])
        print(f"| {length * 1000:.0f} ms | {noise:.1%} | {turn_s * 1000:.0f} ms | {noise * math.sqrt(2 * turn_s / COMPARED_S):.2%} |")
    return 0


def measured(server: Path, folder: Path, length_s: float, duration_s: float) -> tuple[float, float]:
    """Return the variance of the log ratio of two neighboring slices, and the time per slice in seconds."""
    ratios, long_s = compared(server, folder, length_s, duration_s)
    fewer, short_s = compared(server, folder, length_s, duration_s / PART)
    return statistics.variance(ratios), (long_s - short_s) / 2 / (len(ratios) - len(fewer))


def compared(server: Path, folder: Path, length_s: float, duration_s: float) -> tuple[Sequence[float], float]:
    """Return the log ratios of all pairs of neighboring slices of one round, and the duration of the command in seconds."""
    command = f"{server} {{host}} {{port}} {WORK_STEPS} 0"
    load = ("-c", "32", "-d", f"{duration_s}s", "--rounds", "1", "--retries", "0", "--interleave", "slices")
    where = ("--db", str(folder / "results.db"), "--export-json", "-")
    begin = time.monotonic()
    found = json.loads(output([sys.executable, "-c", PROGRAM, str(length_s), "run", command, command, *SHORT, *load, *where]))
    took_s = time.monotonic() - begin
    first, second = ([part["completed"] for part in result["rounds"][0]["measurement"]["intervals"]] for result in found["results"])
    return [math.log(one / other) for one, other in zip(first, second, strict=True)], took_s


if __name__ == "__main__":
    sys.exit(main())
