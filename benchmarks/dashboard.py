#!/usr/bin/env python3
"""Measure the time and size of the dashboard's pages, with generated stores of 10,000 and 100,000 trials, 108 per run.

    PYTHONPATH=. .venv/bin/python benchmarks/dashboard.py [--trials N]… [--keep DIR]

Each page is rendered three times, after the chart library has been loaded. The table shows the median time and the median CPU time, which
is less sensitive to other programs. A page about a run is rendered for three different runs, so that no result comes from a cache. The
limits are 200 kB per page, and 300 ms with 10,000 trials or 1 s with 100,000. Charts and reports have no limits, because browsers load them
separately, after the page.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from httpbench.model import Run, Trial
from httpbench.store import Store
from httpbench.web import addresses
from httpbench.web.site import Site
from tests.made_runs import make_servers_run
from tests.made_stores import make_store

TIMES = 3
BYTES_MAX = 200_000
SECONDS_MAX = {10_000: 0.3, 100_000: 1.0}
TARGET = "c/nginx"

Asked = tuple[str, dict[str, str]]


def pages(ids: list[str]) -> Iterator[tuple[str, list[Asked], bool]]:
    """Yield each row of the table: its name, the pages to request, and whether the limits apply."""
    newest = list(reversed(ids[-2 * TIMES :]))
    yield "runs, newest first", [("", {})] * TIMES, True
    yield "runs, last page", [(addresses.page_of_runs((len(ids) - 1) // 50 + 1), {})] * TIMES, True
    yield "runs, searched by target", [("", {"target": "nginx"})] * TIMES, True
    yield "runs, searched by commit, tag and day", [("", {"commit": "a", "tag": "nightly", "since": "2026-01-01"})] * TIMES, True
    yield "targets", [("targets.html", {})] * TIMES, True
    yield "a target's history", [(addresses.target(TARGET), {})] * TIMES, True
    yield "a run", [(addresses.run(run), {}) for run in newest[:TIMES]], True
    yield "two runs", [(addresses.comparison(run, newest[0]), {}) for run in newest[TIMES:]], True
    yield "a chart of a run", [(addresses.run_chart(run, "table-1"), {}) for run in newest[:TIMES]], False
    yield "a chart of a history", [(addresses.target_chart(TARGET, number), {}) for number in range(1, TIMES + 1)], False
    yield "the report of a run", [(addresses.report(newest[0]), {})], False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, action="append", help="trials of a store (default: 10000 and 100000)")
    parser.add_argument("--keep", type=Path, help="keep the stores in this folder, and use those that are there")
    options = parser.parse_args()
    made = make_servers_run()
    within = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for trials in options.trials or list(SECONDS_MAX):
            within &= measure(folder / f"{trials}.db", made, trials)
    return 0 if within else 1


def measure(db: Path, made: tuple[Run, list[Trial]], trials: int) -> bool:
    """Print the table of one store, and return whether all pages stay within their limits."""
    rounds = made[1]
    copies = max(round(trials / len(rounds)) - 1, 2 * TIMES)
    ids = stored(db) if db.exists() else make_store(db, made, copies)
    limit_s = SECONDS_MAX.get(trials, max(SECONDS_MAX.values()))
    site = Site(db)
    site.warm_up()
    print(f"{len(ids) * len(rounds):,} trials in {len(ids):,} runs, {db.stat().st_size / 1e6:,.0f} MB\n")
    print("| page | time | CPU | size |\n|---|--:|--:|--:|")
    within = True
    for what, asked, has_limit in pages(ids):
        times, busy, size = [], [], 0
        for path, query in asked:
            begun, used = time.perf_counter(), time.process_time()
            size = max(size, len(site.page(path, query).content.encode()))
            times.append(time.perf_counter() - begun)
            busy.append(time.process_time() - used)
        seconds = statistics.median(times)
        exceeded = has_limit and (seconds > limit_s or size > BYTES_MAX)
        within &= not exceeded
        figures = f"{seconds * 1000:,.0f} ms | {statistics.median(busy) * 1000:,.0f} ms | {size / 1000:,.0f} kB"
        print(f"| {what} | {figures} |{' above the limit' if exceeded else ''}")
    print()
    return within


def stored(db: Path) -> list[str]:
    with Store(db, reading=True) as store:
        return [name for (name,) in store.select("SELECT id FROM run ORDER BY sequence")]


if __name__ == "__main__":
    sys.exit(main())
