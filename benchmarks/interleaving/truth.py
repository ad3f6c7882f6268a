#!/usr/bin/env python3
"""Check that ``httpbench run`` finds known differences without bias, and that it finds none between identical servers.

    benchmarks/interleaving/truth.py equal                              100 comparisons of a server with itself
    benchmarks/interleaving/truth.py equal --beside stranger            the same while another program runs
    benchmarks/interleaving/truth.py different                          cost ratios from 1.02 to 3.0, five comparisons each
    benchmarks/interleaving/truth.py different --cost work --ratios 1.02 --comparisons 10 --rounds 9

With ``--cost time``, the server spends a known time on each request. It uses the CPU during that time, but the speed of the CPU doesn't
matter. If a request takes c µs and a request to the slower server takes s µs more, the slower server serves c / (c + s) times as many
requests. A first run measures c. The known time is the largest part of c, so the ratio is known to within about 1% of the difference.

With ``--cost work``, a loop takes most of the time, so throughput is as noisy as with real servers. The duration of the loop is measured
under load, and the ratio is therefore known only to within about 10% of the difference. Use this mode to see how small a difference
``httpbench run`` can detect.

``equal`` compares servers with such loops, and fails if more than 5% of the comparisons claim a difference. ``different`` fails if the mean
of the measured ratios differs from the truth by more than three standard errors plus a share of the known difference: 1% for time and 10%
for work. Both print Markdown tables with half the width of the 95% interval and the duration of a comparison. Run them on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import stranger

HERE = Path(__file__).resolve().parent
FALSE_CLAIMS_MAX = 0.05
RATIOS = "1.02,1.05,1.10,1.50,3.00"
COMPARISONS = {"equal": 100, "different": 5}
CALIBRATION_ROUNDS = 9
BIAS_MAX = {"time": 0.01, "work": 0.1}
"""Maximum bias beyond three standard errors, as a share of the known difference. The true ratio isn't known more precisely than this."""
SHORT = ("--warmup", "200ms", "--expect-body", "Hello, World!")
"""Options for short preparations. The server's speed doesn't change after its first requests. Waiting for a steady state on a noisy machine
would take ten seconds. Learning the response would take one second for each server."""
WAIT_NS = 100_000
"""Known time that every server spends on a request with ``--cost time``."""
WORK_STEPS = 8_000
"""Number of loop steps per request with ``--cost work``, for every server. They take about 10 µs, which is longer than the load generator
needs for a request."""
RUN_LIMIT_S = 600
ROUND_INVALID = 1
"""Exit code of ``httpbench run`` if a round of a server was invalid. The comparison then leaves out this round for both servers."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings that all comparisons share."""

    server: Path
    folder: Path
    cost: str
    """Largest part of the cost of a request: ``time`` or ``work``."""
    load: tuple[str, ...]

    def command(self, added: int = 0) -> str:
        """Return the command line of a server whose requests cost ``added`` steps or nanoseconds more than usual."""
        cost = f"{WORK_STEPS + added} 0" if self.cost == "work" else f"0 {WAIT_NS + added}"
        return f"{self.server} {{host}} {{port}} {cost}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The throughput of the second server relative to the first."""

    ratio: float
    low: float
    high: float
    differs: bool
    took_s: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2 / self.ratio


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=list(COMPARISONS))
    parser.add_argument("--comparisons", type=int, help="comparisons for each ratio [default: 100 equal, 5 different]")
    parser.add_argument("--ratios", default=RATIOS, help="cost of a request of the slower server relative to the faster one")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--duration", default="1s")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--interleave", choices=["slices", "rounds"], default="slices")
    parser.add_argument("--beside", choices=stranger.BESIDE, default="nothing")
    parser.add_argument("--cost", choices=list(BIAS_MAX), default="time", help="largest part of the cost of a request, for different")
    asked = parser.parse_args()
    count = asked.comparisons or COMPARISONS[asked.experiment]
    load = ("-c", str(asked.connections), "-d", asked.duration, "--rounds", str(asked.rounds), "--interleave", asked.interleave)
    with built() as (server, folder):
        if asked.experiment == "equal":
            with stranger.running(asked.beside):
                return equals(Setting(server, folder, "work", load), count)
        setting = Setting(server, folder, asked.cost, load)
        cost_us, unit_us = calibrated(setting, asked.connections)
        with stranger.running(asked.beside):
            return differences(setting, [float(ratio) for ratio in asked.ratios.split(",")], count, cost_us, unit_us)


def equals(setting: Setting, count: int) -> int:
    """Compare a server with itself ``count`` times."""
    print("| # | ratio | 95% interval | claim |\n|--:|--:|--:|---|")
    found = []
    for number in range(1, count + 1):
        if (one := compared(setting, [setting.command(), setting.command()])) is None:
            print(f"| {number} | too few rounds were undisturbed | | |", flush=True)
            continue
        found.append(one)
        print(f"| {number} | {one.ratio:.4f} | {one.low:.4f} to {one.high:.4f} | {'false' if one.differs else ''} |", flush=True)
    claims = sum(one.differs for one in found)
    print(f"\n{claims} false claims in {len(found)} comparisons; {summary(found)}")
    return 0 if claims <= FALSE_CLAIMS_MAX * len(found) else 1


def differences(setting: Setting, ratios: Sequence[float], count: int, cost_us: float, unit_us: float) -> int:
    """Compare a server with a slower one, ``count`` times for each ratio of their costs.

    ``cost_us`` is the CPU time per request, in µs. ``unit_us`` is the CPU time per unit of the known cost, which is a loop step or a
    nanosecond, in µs.
    """
    print(f"{cost_us:.3f} µs of CPU time per request, {unit_us * 1000:.3f} ns per unit of the known cost\n")
    print("| truth | mean ratio | deviation | found | intervals with the truth | half-width ≤ 2% | half-width | time |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    unbiased = True
    for ratio in ratios:
        added = round(cost_us * (ratio - 1) / unit_us)
        truth = cost_us / (cost_us + added * unit_us)
        ran = [compared(setting, [setting.command(), setting.command(added)]) for _ in range(count)]
        found = [one for one in ran if one is not None]
        deviations = [math.log(one.ratio / truth) for one in found]
        mean, error = statistics.mean(deviations), statistics.stdev(deviations) / math.sqrt(len(found)) if len(found) > 1 else math.inf
        unbiased = unbiased and abs(mean) <= 3 * error + BIAS_MAX[setting.cost] * abs(math.log(truth))
        cells = [
            f"{truth:.4f}",
            f"{truth * math.exp(mean):.4f}",
            f"{mean:+.2%} ± {error:.2%}",
            f"{sum(one.differs for one in found)} of {count}",
            f"{sum(one.low <= truth <= one.high for one in found)} of {count}",
            f"{sum(one.half_width <= 0.02 for one in found)} of {count}",
            f"{statistics.median(one.half_width for one in found):.2%}",
            f"{statistics.median(one.took_s for one in found):.0f} s",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
    return 0 if unbiased else 1


def summary(found: Sequence[Comparison]) -> str:
    widths = sorted(one.half_width for one in found)
    took_s = statistics.median(one.took_s for one in found)
    return f"half-width {statistics.median(widths):.2%} (median) to {widths[-1]:.2%}; {took_s:.0f} s each"


def calibrated(setting: Setting, connections: int) -> tuple[float, float]:
    """Return the CPU time per request and per unit of the known cost, in µs. Each is the median over several rounds under load."""
    load = ("-c", str(connections), "-d", "1s", "--rounds", str(CALIBRATION_ROUNDS))
    commands = [setting.command(), setting.command(WORK_STEPS)]
    results = document(replace(setting, load=load), commands if setting.cost == "work" else commands[:1])["results"]
    costs = [
        statistics.median(each["target_usage"]["cpu_s"] * 1e6 / each["measurement"]["requests"]["completed"] for each in result["rounds"])
        for result in results
    ]
    return costs[0], (costs[1] - costs[0]) / WORK_STEPS if setting.cost == "work" else 0.001


def compared(setting: Setting, commands: list[str]) -> Comparison | None:
    """Compare the throughput of the second server with that of the first. Return ``None`` if too few rounds were undisturbed."""
    begin = time.monotonic()
    found = document(setting, commands)
    took_s = time.monotonic() - begin
    compared = [each for each in found["comparisons"] if each["figure"] == "throughput_rps"]
    if not compared or compared[0]["comparison"]["interval"] is None:
        return None
    comparison = compared[0]["comparison"]
    interval = comparison["interval"]
    return Comparison(comparison["ratio"], interval["low"], interval["high"], compared[0]["differs"], took_s)


def document(setting: Setting, commands: list[str]) -> dict[str, Any]:
    where = ["--db", str(setting.folder / "results.db"), "--export-json", "-"]
    program = str(Path(sys.executable).with_name("httpbench"))
    found: dict[str, Any] = json.loads(output([program, "run", *commands, *SHORT, *setting.load, *where], (0, ROUND_INVALID)))
    return found


def output(argv: list[str], codes: Sequence[int] = (0,)) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)
    if done.returncode not in codes:
        sys.exit(f"{argv[0]} ended with exit code {done.returncode}:\n{done.stderr[-4000:]}")
    return done.stdout


@contextmanager
def built() -> Iterator[tuple[Path, Path]]:
    """Compile the server. Yield its path, and a folder that is removed at the end of the experiment."""
    with tempfile.TemporaryDirectory() as folder:
        server = Path(folder, "server")
        output(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(server), str(HERE / "server.c")])
        yield server, Path(folder)


if __name__ == "__main__":
    sys.exit(main())
