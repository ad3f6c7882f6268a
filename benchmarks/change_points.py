#!/usr/bin/env python3
"""Simulate how often `httpbench history` reports a false change, and how often it finds a step of 5%.

    PYTHONPATH=. .venv/bin/python benchmarks/change_points.py [--series N]

The script prints the number of false changes per 100 runs, for series of 20, 50, 100 and 300 runs that contain only noise. It then prints
the share of series in which `httpbench history` finds a step within five runs. The exit code is 1 if noise with an autocorrelation of up to
0.2 causes more than one false change per 100 runs.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from tests.change_point_law import NOISES, false_changes, found_share

LIMIT = 1.0
KEPT_CORRELATION = 0.2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=1000, help="series of each case")
    series = parser.parse_args().series
    worst = 0.0
    print("false changes in 100 runs of noise")
    for kind in NOISES:
        for correlation in (0.0, 0.2, 0.4):
            rates = [false_changes(np.random.default_rng(1), kind, runs, correlation, series) for runs in (20, 50, 100, 300)]
            worst = max([worst, *rates]) if correlation <= KEPT_CORRELATION else worst
            print(f"  {kind}, autocorrelation {correlation:g}: " + ", ".join(f"{rate:.2f}" for rate in rates), flush=True)
    print("a step of 5% found within five runs, by runs before it: 10, 20, 50, 100")
    for kind in NOISES:
        for deviation in (0.01, 0.015, 0.02):
            shares = [found_share(np.random.default_rng(2), kind, before, deviation, series) for before in (10, 20, 50, 100)]
            print(f"  {kind}, noise {deviation:.1%}: " + ", ".join(f"{share:.0%}" for share in shares), flush=True)
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
