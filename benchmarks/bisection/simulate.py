#!/usr/bin/env python3
"""Simulate how often `httpbench bisect` names the right commit.

    PYTHONPATH=. .venv/bin/python benchmarks/bisection/simulate.py [--searches N]

The script first prints how often a measurement calls a commit good and how often bad if the commit's true change is exactly at the bound.
This is the highest error of a measurement. Next, it prints the share of searches that are right if each measurement is wrong with the
assumed probability, for the position at which searches are right least often. Last, it simulates rounds for 64 commits with one regression
of 5%, and changes of up to 1% in all other commits. If rounds vary a lot, some commits stay undecided, and a search may name a range.

The exit code is 1 if an error is higher than assumed, or if more than 5% of searches name the wrong commit or the wrong range.
"""

from __future__ import annotations

import argparse
import statistics
import sys

import numpy as np

from httpbench.stats.bisection import STEP_ERROR, STEP_ERROR_MIN, Answer, Ending, step_error
from tests.bisection_law import GATE, erring, gated, planted, searched, searched_in_rounds
from tests.change_point_law import NOISES

RIGHT_MIN = 0.95
POSITIONS_MAX = 9
COMMITS = 64
ASSUMED = (STEP_ERROR_MIN, 0.01, 0.02, STEP_ERROR)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", type=int, default=1000, help="searches of each case")
    searches = parser.parse_args().searches
    is_right = all([errors(searches), worst_positions(searches), noisy_rounds(searches)])
    return 0 if is_right else 1


def errors(measurements: int) -> bool:
    print("a change exactly at the bound, called good or bad, by the highest assumed error")
    is_right = True
    for kind in NOISES:
        random = np.random.default_rng(1)
        measured = [gated(random, np.log1p(GATE.change), 0.02, kind) for _ in range(measurements)]
        errors = [step_error(1 + GATE.change, effect.interval, effect.rounds) for _, effect in measured if effect.interval]
        words = []
        for assumed in ASSUMED:
            own = [answer for (answer, _), error in zip(measured, errors, strict=True) if error <= assumed]
            shares = [own.count(answer) / measurements for answer in (Answer.GOOD, Answer.BAD)]
            is_right &= max(shares) <= assumed
            words.append(f"{assumed:.1%}: {shares[0]:.1%}, {shares[1]:.1%}")
        print(f"  {kind}: {'; '.join(words)}", flush=True)
    return is_right


def worst_positions(searches: int) -> bool:
    print("searches that are right, for the worst position of the first bad commit")
    worst = 1.0
    for commits in (1, 2, 16, 64, 300):
        for error in ASSUMED:
            random = np.random.default_rng(2)
            positions = sorted({round(each) for each in np.linspace(0, commits - 1, POSITIONS_MAX)} | {commits})
            found = {
                first_bad: [searched(commits, erring(random, first_bad, error), error) for _ in range(searches)] for first_bad in positions
            }
            shares = [sum(each.names(first_bad, commits) for each in own) / searches for first_bad, own in found.items()]
            counts = [len(each.answers) for own in found.values() for each in own]
            worst = min(worst, *shares)
            words = f"{min(shares):.1%}, {statistics.mean(counts):.1f} measurements on average, at most {max(counts)}"
            print(f"  {commits} commits, error {error:.1%}: {words}", flush=True)
    return worst >= RIGHT_MIN


def noisy_rounds(searches: int) -> bool:
    print("searches that name the right commit, and those that name a wrong one")
    print(f"{COMMITS} commits, one regression of 5%, changes of up to 1% in all commits, gate {GATE}")
    worst = 0.0
    for kind in NOISES:
        for deviation in (0.005, 0.01, 0.015, 0.02):
            random = np.random.default_rng(3)
            found = [_search(random, kind, deviation) for _ in range(max(searches // 5, 1))]
            right, wrong, rounds, measurements = (statistics.mean(values) for values in zip(*found, strict=True))
            worst = max(worst, wrong)
            words = f"{right:.1%}, {wrong:.1%}; {rounds:.0f} rounds in {measurements:.1f} measurements on average"
            print(f"  {kind}, rounds vary by {deviation:.1%}: {words}", flush=True)
    return worst <= 1 - RIGHT_MIN


def _search(random: np.random.Generator, kind: str, deviation: float) -> tuple[bool, bool, int, int]:
    """Return whether a search names the right commit, whether it names a wrong one, and its numbers of rounds and measurements."""
    first_bad = int(random.integers(COMMITS))
    found = searched_in_rounds(random, planted(random, COMMITS, first_bad, 0.05, 0.01), deviation, kind)
    named = [int(commit.id, 16) - 1 for commit in found.suspects]
    rounds = sum(step.effect.rounds for step in found.steps if step.effect)
    return named == [first_bad] and found.ending is Ending.FOUND, first_bad not in named, rounds, len(found.steps)


if __name__ == "__main__":
    sys.exit(main())
