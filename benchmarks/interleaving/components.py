#!/usr/bin/env python3
"""Estimate from exported runs how much the slices of a server vary within a round, and how much its starts vary.

    benchmarks/interleaving/components.py results/*/*/run.json.zst
    benchmarks/interleaving/components.py run.json

The files are JSON exports of httpbench (``--export-json``), which may be compressed with Zstandard. Each row of the Markdown table is a
table of a run that was measured in slices. For each pair of targets, the script computes the logarithm of their throughput ratio in each
cycle. "slice" is the standard deviation of these values within rounds. "start" is that of the mean of a round, beyond what the slices
explain. Both are averaged over all pairs (as variances) and divided by √2, so they are those of a single server.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from httpbench.model import Load, Trial
from httpbench.report.data.read_json import read_export
from httpbench.stats.interval import ROUNDS_MIN, Floats
from httpbench.stats.slice_noise import Slices, slices_of

SLICES_MIN = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    print("| run | table | pairs | slices | slice | start |\n|---|---|--:|--:|--:|--:|")
    for file in parser.parse_args().files:
        for (name, _), targets in tables(read_export(file)[1]).items():
            pairs = [parts for one, other in combinations(targets, 2) if (parts := components(one, other)) is not None]
            if pairs:
                slices, within, between = (float(np.mean(values)) for values in zip(*pairs, strict=True))
                deviations = [f"{math.sqrt(max(variance, 0.0) / 2):.1%}" for variance in (within, between)]
                print(f"| {file.parent.name or file.name} | {name} | {len(pairs)} | {slices:.0f} | {' | '.join(deviations)} |")


def tables(trials: Sequence[Trial]) -> dict[tuple[str, Load], list[Slices]]:
    """Return the slices of each target, by the name and the load of its table."""
    cells: dict[tuple[str, Load], dict[str, dict[int, Floats]]] = {}
    for trial in trials:
        planned = trial.plan
        logs = slices_of([trial]).get(planned.round)
        if logs is not None and len(logs) >= SLICES_MIN:
            name = f"{planned.workload}, {planned.load.connections} connections, {planned.scaling}"
            cells.setdefault((name, planned.load), {}).setdefault(planned.target, {})[planned.round] = logs
    return {table: list(targets.values()) for table, targets in cells.items()}


def components(one: Slices, other: Slices) -> tuple[int, float, float] | None:
    """Return the number of slices, and the variance of the log ratio within rounds and between rounds.

    Returns ``None`` if there are fewer than three rounds with the same number of slices.
    """
    rounds = [one[number] - other[number] for number in one.keys() & other.keys() if len(one[number]) == len(other[number])]
    if len(rounds) < ROUNDS_MIN or len({len(ratios) for ratios in rounds}) > 1:
        return None
    ratios = np.array(rounds)
    slices, within = ratios.shape[1], float(ratios.var(axis=1, ddof=1).mean())
    return slices, within, float(ratios.mean(axis=1).var(ddof=1)) - within / slices


if __name__ == "__main__":
    main()
