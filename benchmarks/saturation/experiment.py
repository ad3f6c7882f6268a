#!/usr/bin/env python3
"""Check three times that ``httpbench saturate`` finds the known capacity of a server.

    benchmarks/saturation/experiment.py                      1 ms for each request: 1,000 requests/s, to within 5%
    benchmarks/saturation/experiment.py --service-us 250     4,000 requests/s

The server (``server.c``) answers requests one after another, at absolute deadlines that are one service time apart. Its capacity is
therefore known without a measurement. With evenly spaced requests, its queue stays empty below the capacity and grows without limit above
it. Any rate above the capacity therefore breaks every latency bound, and any lower rate meets every bound above the service time. Close to
the capacity, the server recovers slowly from a stall: at 99% of the capacity, recovery takes a hundred times as long as the stall. The
latency bound must therefore be longer than the stalls that a virtual machine causes.

A search takes about a minute on an idle machine. The output is a Markdown table. The exit code is 1 if a result is too far from the truth.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SEARCH_LIMIT_S = 1800


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--service-us", type=int, default=1000)
    parser.add_argument("--slo", default="p99<50ms")
    parser.add_argument("--searches", type=int, default=3)
    parser.add_argument("--duration", default="5s")
    parser.add_argument("--tolerance", type=float, default=0.05)
    asked = parser.parse_args()
    truth = 1e6 / asked.service_us
    print(f"{asked.slo} on a server that takes {asked.service_us} µs for each request\n")
    print("| # | truth (1/s) | found (1/s) | failed at (1/s) | off | trials | within |\n|--:|--:|--:|--:|--:|--:|---|")
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        server = Path(folder, "server")
        output(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(server), str(HERE / "server.c")])
        for number in range(1, asked.searches + 1):
            found, trials = searched(
                f"{server} {{host}} {{port}} {asked.service_us}", asked.slo, asked.duration, Path(folder, "results.db")
            )
            off = found["rate_rps"] / truth - 1 if found["rate_rps"] else float("nan")
            within = abs(off) <= asked.tolerance
            kept = kept and within
            rates = f"{truth:,.0f} | {found['rate_rps']} | {found['rate_failed_rps']}"
            print(f"| {number} | {rates} | {off:+.1%} | {trials} | {'yes' if within else '**no**'} |", flush=True)
    return 0 if kept else 1


def searched(command: str, slo: str, duration: str, results: Path) -> tuple[dict[str, Any], int]:
    """Return the result of a search and its number of trials."""
    program = str(Path(sys.executable).with_name("httpbench"))
    argv = [program, "saturate", command, "--slo", slo, "-d", duration, "--db", str(results), "--export-json", "-"]
    document = json.loads(output(argv))
    return document["saturation"], sum(len(result["rounds"]) for result in document["results"])


def output(argv: list[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=SEARCH_LIMIT_S, check=False)
    if done.returncode not in (0, 1) or not (done.stdout or done.returncode == 0):
        sys.exit(f"{argv[0]} ended with exit code {done.returncode}:\n{done.stderr[-4000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
