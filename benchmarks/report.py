#!/usr/bin/env python3
"""Measure the size and time of an HTML report of 108 generated trials: 12 targets, 3 loads, 3 rounds of 10 s.

    PYTHONPATH=. .venv/bin/python benchmarks/report.py [--rounds N] [--keep FILE]

The script prints the size of each part of the page in bytes, and the time to render the page. The limit is 1.5 MB for 100 trials.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

from httpbench.report.html import render_html
from httpbench.store import Store
from tests.made_runs import make_servers_run

LIMIT_BYTES = 1_500_000
PER_TRIALS = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the made run")
    parser.add_argument("--keep", type=Path, help="write the page here")
    options = parser.parse_args()
    run, trials = make_servers_run(rounds=options.rounds)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "made.db") as store:
        store.begin(run)
        for trial in trials:
            store.add(run.id, trial)
        begun = time.perf_counter()
        stored = store.run(run.id)
        loaded_s = time.perf_counter() - begun
        text = render_html(*stored)
        made_s = time.perf_counter() - begun - loaded_s
    if options.keep:
        options.keep.write_text(text, encoding="utf-8")
    size = len(text.encode())
    print(f"{len(trials)} trials: {size:,} bytes, {size / len(trials) * PER_TRIALS:,.0f} for {PER_TRIALS} trials")
    print(f"read in {loaded_s:.2f} s, made in {made_s:.2f} s (the first chart loads the library)")
    for name, pattern in (
        ("JSON", r'href="data:[^"]*"'),
        ("charts", r"<svg.*?</svg>"),
        ("tables", r"<table.*?</table>"),
        ("style", r"<style.*?</style>"),
    ):
        print(f"  {name}: {sum(len(part.encode()) for part in re.findall(pattern, text, re.DOTALL)):,} bytes")
    return 0 if size / len(trials) * PER_TRIALS < LIMIT_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
