#!/usr/bin/env python3
"""Simulate how long ``httpbench run --precision`` takes if the number of slices in a round is chosen in different ways.

    benchmarks/interleaving/precision.py                     intervals of ± 2%
    benchmarks/interleaving/precision.py --half-width 0.01   intervals of ± 1%

Two equal servers take turns. The logarithm of a slice's throughput has normal noise with the standard deviation "slice". Each start of a
server shifts all its slices by another normal error with the standard deviation "start". A round takes twice the time in the column "cost"
for starting and warming up both servers, and ``CYCLE_S`` for each cycle. The run ends by the same rule as httpbench.

- ``10 s``: 10 s of slices, and 5 to 30 rounds. This was the rule of earlier versions.
- ``now``: The number of slices depends only on the requested precision. Like all following rules, this rule makes 6 to 60 rounds.
- ``first round``: The number of slices depends on the noise of the first 20 cycles. If starts don't differ, it suffices for six rounds.
- ``two-level``: After three rounds as in ``now``, the number of slices is √(cost of a start / cost of a slice · variance within rounds /
  variance between rounds), with both variances estimated from these rounds. This minimizes the variance for a given time (W. G. Cochran,
  *Sampling Techniques*, third edition, 1977, section 10.6).
- ``known``: The same formula with the true variances, from the first round on.

Estimates and known optima are limited to 20 to 200 slices. The Markdown table shows the mean duration of a run and, if it is below 99%, the
share of runs that reach the precision. The last line shows the highest share of runs that claim a difference, over all rows. The exit code
is 1 if this share is significantly above 5% for the rule ``now``.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from httpbench.run.kinds import SLICE_OVERHEAD_S
from httpbench.run.plan.slices import SLICE_S
from httpbench.stats.interval import LEFT_OUT, Floats, quantile, student
from httpbench.stats.precision import usual_duration_s

Counts = npt.NDArray[np.int64]

SLICE_NOISE = (0.03, 0.05, 0.08)
START_NOISE = (0.003, 0.007, 0.01, 0.02)
START_S = (1.5, 3.5)
"""Time to start a server with a short warm-up, and until its throughput is steady, in seconds."""
CYCLE_S = 2 * (SLICE_S + SLICE_OVERHEAD_S)
"""Duration of a cycle with two servers, including lead-ins, drains and freezing, in seconds."""
SERVERS = math.sqrt(2)
"""Standard deviation of a log ratio, relative to that of one server's logarithms."""

ROUNDS = (6, 60)
"""Minimum and maximum number of rounds."""
BEFORE_ROUNDS = (5, 30)
BEFORE_SLICES = round(10 / SLICE_S)
FIRST_CYCLES, FIRST_ROUNDS = 20, 3
SLICES_MIN, SLICES_MAX = 20, 200
FALSE_CLAIMS_MAX = 0.05


@dataclass(frozen=True, slots=True)
class Setting:
    """The noise and costs of a row of the table. Noise is that of log ratios."""

    half_width: float
    slice_noise: float
    start_noise: float
    round_s: float
    """Time of a round without its slices, in seconds."""
    runs: int

    def optimum(self, within: float | Floats, between: float | Floats) -> Counts:
        """Return the two-level optimum for a variance of slices within rounds, and a variance between rounds."""
        with np.errstate(divide="ignore"):
            return limited(np.sqrt(self.round_s / CYCLE_S * np.asarray(within) / np.asarray(between)))


@dataclass(frozen=True, slots=True)
class Runs:
    """The log ratios of all rounds of all simulated runs, with the number of slices in each."""

    ratios: Floats
    slices: Counts


NORMAL = student(math.inf)
"""Half-width of a 95% interval if the variance is known, in standard errors."""

Rule = Callable[[Setting, np.random.Generator], Runs]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half-width", type=float, default=0.02, help="requested half-width [default: 0.02]")
    parser.add_argument("--runs", type=int, default=4000, help="simulated runs for each row and rule [default: 4000]")
    asked = parser.parse_args()
    print(f"| slice | start | cost | {' | '.join(RULES)} |\n|--:|--:|--:|{'--:|' * len(RULES)}")
    claims = dict.fromkeys(RULES, 0.0)
    for start_s in START_S:
        for slice_noise in SLICE_NOISE:
            for start_noise in START_NOISE:
                setting = Setting(asked.half_width, slice_noise * SERVERS, start_noise * SERVERS, 2 * start_s, asked.runs)
                cells = [f"{slice_noise:.0%}", f"{start_noise:.1%}", f"{start_s:g} s"]
                for name, rule in RULES.items():
                    seconds, reached, claimed = simulated(setting, rule, *(BEFORE_ROUNDS if rule is before else ROUNDS))
                    claims[name] = max(claims[name], claimed)
                    cells.append(f"{seconds:.0f} s" + (f" ({reached:.0%})" if reached < 0.99 else ""))
                print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\nfalse claims: {', '.join(f'{name} {share:.1%}' for name, share in claims.items())}")
    error = math.sqrt(FALSE_CLAIMS_MAX * (1 - FALSE_CLAIMS_MAX) / asked.runs)
    return 0 if claims["now"] <= FALSE_CLAIMS_MAX + 3 * error else 1


def simulated(setting: Setting, rule: Rule, rounds_min: int, rounds_max: int) -> tuple[float, float, float]:
    """Return the mean duration in seconds, the share of runs that reached the precision, and the share that claim a difference."""
    made = rule(setting, np.random.default_rng(1))
    ends_s = np.cumsum(setting.round_s + made.slices * CYCLE_S, axis=1)
    seconds, running = np.zeros(setting.runs), np.ones(setting.runs, dtype=bool)
    reached = claimed = 0
    for rounds in range(rounds_min, rounds_max + 1):
        low, high = bounds(made.ratios[running, :rounds], setting.slice_noise**2 / made.slices[running, :rounds])
        enough = np.expm1((high - low) / 2) <= setting.half_width
        ends = enough | (rounds == rounds_max)
        reached += int(enough.sum())
        claimed += int((ends & ((low > 0) | (high < 0))).sum())
        ended = np.flatnonzero(running)[ends]
        seconds[ended] = ends_s[ended, rounds - 1]
        running[ended] = False
    return float(seconds.mean()), reached / setting.runs, claimed / setting.runs


def bounds(ratios: Floats, explained: Floats) -> tuple[Floats, Floats]:
    """Return the bounds of the interval of each row, as :func:`httpbench.stats.paired.compare` computes them.

    ``explained`` is the variance that slices explain, which is assumed to be known exactly.
    """
    rounds = ratios.shape[1]
    ascending, left_out = np.sort(ratios, axis=1), rounds // LEFT_OUT
    reach = np.maximum(quantile(rounds) * ratios.std(axis=1, ddof=1), NORMAL * np.sqrt(explained.mean(axis=1))) / math.sqrt(rounds)
    return ascending[:, : rounds - left_out].mean(axis=1) - reach, ascending[:, left_out:].mean(axis=1) + reach


def before(setting: Setting, random: np.random.Generator) -> Runs:
    return with_slices(setting, random, BEFORE_SLICES)


def now(setting: Setting, random: np.random.Generator) -> Runs:
    return with_slices(setting, random, usual_slices(setting))


def first_round(setting: Setting, random: np.random.Generator) -> Runs:
    enough = math.log1p(setting.half_width) * math.sqrt(ROUNDS[0]) / quantile(ROUNDS[0])
    noise = random.chisquare(FIRST_CYCLES - 1, setting.runs) / (FIRST_CYCLES - 1)
    return with_slices(setting, random, limited(setting.slice_noise**2 * noise / enough**2)[:, np.newaxis])


def two_level(setting: Setting, random: np.random.Generator) -> Runs:
    first, freedom = usual_slices(setting), FIRST_ROUNDS * (usual_slices(setting) - 1)
    begun = with_slices(setting, random, first)
    within = setting.slice_noise**2 * random.chisquare(freedom, setting.runs) / freedom
    between = np.maximum(begun.ratios[:, :FIRST_ROUNDS].var(axis=1, ddof=1) - within / first, 0.0)
    rest = with_slices(setting, random, setting.optimum(within, between)[:, np.newaxis])
    parts = ((begun, slice(FIRST_ROUNDS)), (rest, slice(FIRST_ROUNDS, None)))
    return Runs(np.hstack([runs.ratios[:, at] for runs, at in parts]), np.hstack([runs.slices[:, at] for runs, at in parts]))


def known(setting: Setting, random: np.random.Generator) -> Runs:
    return with_slices(setting, random, setting.optimum(setting.slice_noise**2, setting.start_noise**2))


def with_slices(setting: Setting, random: np.random.Generator, slices: int | Counts) -> Runs:
    """Return runs with this number of slices in each round: one number, or one for each run in a column."""
    shape = (setting.runs, ROUNDS[1])
    deviation = np.sqrt(setting.start_noise**2 + setting.slice_noise**2 / slices)
    return Runs(random.normal(0, 1, shape) * deviation, np.broadcast_to(np.asarray(slices), shape))


def usual_slices(setting: Setting) -> int:
    return round(usual_duration_s(setting.half_width) / SLICE_S)


def limited(slices: Floats) -> Counts:
    return np.ceil(np.clip(slices, SLICES_MIN, SLICES_MAX)).astype(np.int64)


RULES: dict[str, Rule] = {"10 s": before, "now": now, "first round": first_round, "two-level": two_level, "known": known}


if __name__ == "__main__":
    sys.exit(main())
