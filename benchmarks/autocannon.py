#!/usr/bin/env python3
"""Compare the throughput and verdicts that autocannon and httpbench-loadgen report for the same server.

autocannon.py [TARGET] [OPTION]...     [default: golang/gin]; takes the options of `httpbench bench`

Both load generators run in every round, so changes in the state of the machine affect both. The server has one core, and the load
generator has all others. `httpbench setup --load-generator autocannon` installs autocannon.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from typing import Any

PAIRS = 5
NAMES = ("autocannon", "native")
LOAD = ("--connections", "100", "--pipeline", "10", "--duration", "10s", "--rounds", str(PAIRS))


def measured(words: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Run the benchmark and return the rounds of each load generator, in order."""
    named = [word for name in NAMES for word in ("--load-generator", name)]
    command = ["httpbench", "bench", *named, *LOAD, "--export-json", "-", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout:
        sys.exit(done.returncode)
    found = {result["load_generator"]: result["rounds"] for result in json.loads(done.stdout)["results"]}
    return {name: sorted(found[name], key=lambda each: int(each["round"])) for name in NAMES}


def line_of(each: dict[str, Any]) -> str:
    """Format the throughput and the verdict of a round."""
    return f"{each['measurement']['throughput_rps']:>10,.0f}  {each['verdict']['kind']:<10}"


def main() -> None:
    words = sys.argv[1:]
    if not words or words[0].startswith("-"):
        words = ["golang/gin", *words]
    found = measured(words)
    ratios = []
    print(f"\n{'pair':>4}  {'autocannon':>10}  {'verdict':<10}  {'native':>10}  {'verdict':<10}  ratio")
    for number, (other, ours) in enumerate(zip(*found.values(), strict=True), start=1):
        if not (other["measurement"] and ours["measurement"]):
            continue
        ratios.append(other["measurement"]["throughput_rps"] / ours["measurement"]["throughput_rps"])
        print(f"{number:>4}  {line_of(other)}  {line_of(ours)}  {ratios[-1]:.3f}")
    if ratios:
        print(f"autocannon / native: median {statistics.median(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}")


if __name__ == "__main__":
    main()
