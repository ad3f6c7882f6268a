#!/usr/bin/env python3
"""Plant a regression in a repository, and count how often `httpbench bisect` names its commit.

    PYTHONPATH=.:benchmarks/interleaving .venv/bin/python benchmarks/bisection/planted.py
    … benchmarks/bisection/planted.py --beside stranger    the same while another program runs
    … benchmarks/bisection/planted.py --regression 0       without a regression: no commit must be named
    … benchmarks/bisection/planted.py -- -d 500ms          with another option of httpbench bisect

Each search has a new repository of 64 commits with a small server whose loop takes most of the time of a request. From one random commit
on, the loop is longer, so that the server serves about 5% fewer requests. In addition, the loop of each commit is up to 1% shorter or
longer, as after harmless changes. The script prints a line for each search: the result, the measured effect, the numbers of measurements
and rounds, and the time. The exit code is 1 if fewer than 95% of the searches are right. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import stranger

from tests.planted import BUILD, COMMAND, plant

COMMITS = 64
STEPS = 200_000
"""Number of loop steps per request. They take about 250 µs."""
SHARE_OF_LOOP = 0.94
"""Share of the loop in the time of a request. The rest is needed to receive and send it."""
NOISE = 0.01
RIGHT_MIN = 0.95
LIMIT_S = 7200
ENDINGS = {0: "none", 1: "undecided", 3: "found"}


@dataclass(frozen=True, slots=True)
class Planted:
    """A search and its result."""

    is_right: bool
    line: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", type=int, default=10)
    parser.add_argument("--regression", type=float, default=5.0, help="loss of throughput in percent; 0: no regression")
    parser.add_argument("--gate", default="rps<-3%")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beside", choices=stranger.BESIDE, default="nothing")
    parser.add_argument("options", nargs="*", help="further options of httpbench bisect, after --")
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    print("| # | planted | result | right | effect | measurements | rounds | time |\n|--:|--:|---|---|---|--:|--:|--:|", flush=True)
    found = []
    with stranger.running(asked.beside):
        for number in range(1, asked.searches + 1):
            one = searched(chance, asked.regression / 100, ["--fail-if", asked.gate, *asked.options])
            found.append(one.is_right)
            print(f"| {number} | {one.line} |", flush=True)
    print(f"\n{sum(found)} of {len(found)} searches are right")
    return 0 if sum(found) >= RIGHT_MIN * len(found) else 1


def searched(chance: random.Random, regression: float, options: list[str]) -> Planted:
    """Plant a repository, and search it."""
    first_bad = chance.randrange(1, COMMITS + 1) if regression else None
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder, "repository")
        repository.mkdir()
        added = STEPS * (1 / (1 - regression) - 1) / SHARE_OF_LOOP
        steps = [STEPS + (added if first_bad and number >= first_bad else 0) for number in range(COMMITS + 1)]
        commits = plant(repository, [round(each * (1 + chance.uniform(-NOISE, NOISE))) for each in steps])
        begin = time.monotonic()
        document = result(repository, commits[0], options)
        took_s = time.monotonic() - begin
    named = [commit["id"] for commit in document["suspects"]] if document["ending"] == "found" else []
    is_right = named == [commits[first_bad]] if first_bad else document["ending"] == "none"
    places = [str(commits.index(name)) for name in named]
    cells = [
        str(first_bad or ""),
        f"{document['ending']} {'–'.join(places[:1] + places[-1:] if len(places) > 1 else places)}",
        "yes" if is_right else "no",
        effect_text(document["confirmation"]),
        str(sum(step["answer"] != "skipped" for step in document["steps"])),
        str(sum(step["effect"]["rounds"] for step in document["steps"] if step["effect"])),
        f"{took_s:.0f} s",
    ]
    return Planted(is_right, " | ".join(cells))


def effect_text(effect: dict[str, Any] | None) -> str:
    if not effect or not effect["interval"]:
        return ""
    return f"{effect['ratio'] - 1:+.1%} ({effect['interval']['low'] - 1:+.1%} to {effect['interval']['high'] - 1:+.1%})"


def result(repository: Path, good: str, options: list[str]) -> dict[str, Any]:
    """Run `httpbench bisect`, and return its JSON output."""
    folders = {name: str(repository.parent / name.lower()) for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME")}
    program = str(Path(sys.executable).with_name("httpbench"))
    argv = [program, "bisect", good, "HEAD", COMMAND, "--build", BUILD, "--json", "-q", "--cwd", str(repository), *options]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False, env={**os.environ, **folders})
    if done.returncode not in ENDINGS:
        sys.exit(f"{' '.join(argv)} ended with exit code {done.returncode}:\n{done.stderr[-4000:]}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


if __name__ == "__main__":
    sys.exit(main())
