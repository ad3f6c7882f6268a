#!/usr/bin/env python3
"""Check that ``httpbench run`` finds known differences and doesn't find any between identical servers.

    benchmarks/comparisons/experiment.py aa                  40 comparisons of a server with itself: at most 3 false claims
    benchmarks/comparisons/experiment.py ab                  the same server with 5% and 10% less throughput: both must be found

The known difference comes from a loop in the server. ``server --calibrate`` measures the CPU time of the loop without load, and a first run
measures the CPU time of a request. If a request takes c µs and the loop s µs, a server that fills its core serves c / (c + s) times as many
requests. The loop is made long enough for ratios of 0.95 and 0.90, and the interval must contain the true ratio. All servers do some work
for each request, so that they are the limit and not the load generator.

``aa`` takes about 15 minutes. ``ab`` continues until each ratio is known to within 2%, which took 11 minutes when rounds varied by about
10%. Run both on an idle machine. The output is a Markdown table. The exit code is 1 if a check fails.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FALSE_CLAIMS_MAX = 3
FACTORS = (0.95, 0.90)
CALIBRATION_STEPS = 10_000
UNTIL_KNOWN = ("--precision", "2%", "--min-rounds", "15", "--max-rounds", "60")
USUAL = {"aa": (("--rounds", "5"), "1s"), "ab": (UNTIL_KNOWN, "2s")}
"""Rounds of a comparison and duration of a trial. The rounds needed to find 5% depend on the noise of the machine."""
CALIBRATION_ROUNDS = ("--rounds", "15")
WORK_STEPS = 8_000
"""Number of steps that every server takes per request: about 10 µs, which is more than the load generator needs."""
RUN_LIMIT_S = 1800
ROUND_INVALID = 1
"""Exit code of a comparison with an invalid round. That round and its partner don't count."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings that all comparisons share."""

    server: Path
    folder: Path
    rounds: tuple[str, ...]
    duration: str
    connections: int

    def command(self, added_steps: int = 0) -> str:
        return f"{self.server} {{host}} {{port}} {WORK_STEPS + added_steps}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=list(USUAL))
    parser.add_argument("--comparisons", type=int, default=40, help="comparisons of aa")
    parser.add_argument("--rounds", type=int, help="rounds of each comparison [default: 5 in aa; in ab, as many as the precision requires]")
    parser.add_argument("--duration", help="duration of each trial [default: 1s in aa, 2s in ab]")
    parser.add_argument("--connections", type=int, default=32)
    asked = parser.parse_args()
    with built() as (server, folder):
        rounds, duration = USUAL[asked.experiment]
        rounds = ("--rounds", str(asked.rounds)) if asked.rounds else rounds
        setting = Setting(server, folder, rounds, asked.duration or duration, asked.connections)
        return equals(setting, asked.comparisons) if asked.experiment == "aa" else differences(setting)


def equals(setting: Setting, count: int) -> int:
    """Compare a server with itself ``count`` times."""
    print("| # | ratio | 95% interval | verdicts | claim |\n|--:|--:|--:|---|---|")
    claims = 0
    for number in range(1, count + 1):
        found = compared(setting, [setting.command(), setting.command()])
        claims += found["differs"]
        print(f"| {number} | {row(found)} | {'false' if found['differs'] else ''} |", flush=True)
    how = " ".join((*setting.rounds, "-d", setting.duration))
    print(f"\n{claims} false claims in {count} comparisons ({how}), of at most {FALSE_CLAIMS_MAX}")
    return 0 if claims <= FALSE_CLAIMS_MAX else 1


def differences(setting: Setting) -> int:
    """Compare a server with itself plus a loop of known cost."""
    cost_us = cpu_us_per_request(setting)
    step_us = float(output([str(setting.server), "--calibrate", str(CALIBRATION_STEPS)])) / 1000 / CALIBRATION_STEPS
    print(f"{cost_us:.3f} µs of CPU time per request, {step_us * 1000:.3f} ns per step of the loop\n")
    print("| truth | ratio | 95% interval | verdicts | rounds | found | contains the truth |\n|--:|--:|--:|---|--:|---|---|")
    kept = True
    for factor in FACTORS:
        steps = round(cost_us * (1 / factor - 1) / step_us)
        truth = cost_us / (cost_us + steps * step_us)
        found = compared(setting, [setting.command(), setting.command(steps)])
        interval = found["comparison"]["interval"]
        contains = interval is not None and interval["low"] <= truth <= interval["high"]
        kept = kept and found["differs"] and contains
        print(f"| {truth:.3f} | {row(found)} | {found['comparison']['rounds']} | {yes(found['differs'])} | {yes(contains)} |", flush=True)
    return 0 if kept else 1


def cpu_us_per_request(setting: Setting) -> float:
    """Return the CPU time per request of the server without the loop: the median over rounds."""
    (result,) = document(replace(setting, rounds=CALIBRATION_ROUNDS), [setting.command()])["results"]
    costs = [part["target_usage"]["cpu_s"] * 1e6 / part["measurement"]["requests"]["completed"] for part in result["rounds"]]
    return float(statistics.median(costs))


def compared(setting: Setting, commands: list[str]) -> dict[str, Any]:
    """Compare the throughput of the second server with that of the first. The result includes both verdicts."""
    found = document(setting, commands)
    (comparison,) = (part for part in found["comparisons"] if part["figure"] == "throughput_rps")
    return {**comparison, "verdicts": " ".join(sorted(result["verdict"]["kind"] for result in found["results"]))}


def document(setting: Setting, commands: list[str]) -> dict[str, Any]:
    load = ["-c", str(setting.connections), "-d", setting.duration, "--warmup", "500ms", *setting.rounds]
    where = ["--db", str(setting.folder / "results.db"), "--export-json", "-"]
    program = str(Path(sys.executable).with_name("httpbench"))
    found: dict[str, Any] = json.loads(output([program, "run", *commands, *load, *where], (0, ROUND_INVALID)))
    return found


def row(found: dict[str, Any]) -> str:
    comparison = found["comparison"]
    interval = comparison["interval"]
    if interval is None:
        return f"{comparison['ratio']:.4f} | too few rounds were undisturbed | {found['verdicts']}"
    return f"{comparison['ratio']:.4f} | {interval['low']:.4f} … {interval['high']:.4f} | {found['verdicts']}"


def yes(fact: bool) -> str:
    return "yes" if fact else "**no**"


def output(argv: list[str], codes: Sequence[int] = (0,)) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)
    if done.returncode not in codes:
        sys.exit(f"{argv[0]} ended with exit code {done.returncode}:\n{done.stderr[-4000:]}")
    return done.stdout


@contextmanager
def built() -> Iterator[tuple[Path, Path]]:
    """Yield the server and a folder that exists until the end of the experiment."""
    with tempfile.TemporaryDirectory(prefix="httpbench-comparisons-") as folder:
        server = Path(folder, "server")
        output(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(server), str(HERE / "server.c")])
        yield server, Path(folder)


if __name__ == "__main__":
    sys.exit(main())
