"""Simulate how often identical servers appear different while another program disturbs them.

The program appears in one of ten rounds. It disturbs either only one of the servers, or both. It takes up to 60% of the core of the server
that is being measured, and keeps running during the next trial in half of the cases. The server's throughput falls by the same share. The
same functions that judge and repeat real trials are used for the simulated ones. The simulated CPU times have the errors of tick-based
counters.

At most 3 of 40 runs (7.5%) may make a false claim. A test has time for only a few runs, so it allows two more standard errors. Longer
simulations (5,000 runs of three and five rounds, 3,000 of ten, 1,500 of twenty and thirty) gave these shares of false claims:

    ==========  ====================  ======================
    rounds      one server disturbed  both servers disturbed
    ==========  ====================  ======================
    3           5.3 %                 4.9 %
    5           4.4 %                 5.1 %
    10          2.3 %                 2.6 %
    20          0.8 %                 1.1 %
    30          0.1 %                 0.2 %
    ==========  ====================  ======================

At least 99% of the rounds counted, and repeats added 8 to 13% more trials. Without repeats, a quarter of the runs of three rounds had too
few undisturbed rounds for a claim; with repeats, 4% had too few.
"""

from __future__ import annotations

import numpy as np
import pytest

from httpbench.model import CoreOccupancy, Observed, Trial, TrialPlan, Verdict, VerdictKind
from httpbench.run.rounds.repeats import with_repeats
from httpbench.stats.disturbance import disturbances
from httpbench.stats.evidence import Evidence
from httpbench.stats.paired import compare
from httpbench.stats.precision import headline
from tests.factories import make_measurement, make_plan, make_trial, make_usage

pytestmark = pytest.mark.slow

ROUNDS = 3000
"""Total number of rounds in all runs of a case."""
FALSE_CLAIMS_MAX = 3 / 40
ONE, OTHER = "c/epoll/edge", "c/epoll/edge-again"
NOISE, DRIFT = 0.01, 0.03
COMES, STAYS = 0.1, 0.5
TICKS_ERROR = 0.004
"""Standard deviation of the error that the resolution of ticks causes in CPU usage measured over ten seconds, as a fraction of one core."""

MEASUREMENT, GENERATOR = make_measurement(), make_usage(0.5)
IDLE = CoreOccupancy(cpu=1, busy=0.5, stolen=0.0)

# Copies of these are made a hundred thousand times. Copying a model takes a tenth of the time that making one takes.
BUSY = CoreOccupancy(cpu=0, busy=1.0, interrupts=0.0, stolen=0.0)
OBSERVED = Observed(generator_usage=GENERATOR)
MADE = make_trial()


class Machine:
    """A machine with two equal servers, on which another program comes and goes."""

    def __init__(self, random: np.random.Generator, sides: frozenset[str]):
        self._random = random
        self._sides = sides
        self._round = -1
        self._drift = 0.0
        self._comes = False
        self._stranger = 0.0

    def measure(self, planned: TrialPlan) -> tuple[float, bool]:
        """Return requests per second, and whether the trial was disturbed."""
        random = self._random
        if planned.round != self._round:
            self._round, self._drift = planned.round, random.normal(0, DRIFT)
            self._comes = random.random() < COMES
        stays = self._stranger if random.random() < STAYS else 0.0
        comes = self._comes and planned.attempt == 0 and planned.target in self._sides
        self._stranger = random.uniform(0.0, 0.6) if comes and not stays else stays
        rps = 1e5 * np.exp(self._drift + random.normal(0, NOISE)) * (1 - self._stranger)
        return float(rps), bool(disturbances(self._evidence(planned)))

    def _evidence(self, planned: TrialPlan) -> Evidence:
        busy = 1 + self._random.normal(0, TICKS_ERROR)
        usage = make_usage(1 - self._stranger)
        occupancy = (BUSY.model_copy(update={"busy": busy}), IDLE)
        observed = OBSERVED.model_copy(update={"target_usage": usage, "occupancy": occupancy})
        return Evidence(MEASUREMENT, planned.load, planned.cores, observed)


Figures = dict[int, float]
"""Throughput in requests/s, by round."""


def figures(random: np.random.Generator, rounds: int, sides: frozenset[str], retries: int) -> tuple[Figures, Figures, int]:
    """Return both servers' throughput in the trials that count, and the total number of trials."""
    plan = [make_plan(name, round_=number) for number in range(rounds) for name in random.permutation([ONE, OTHER]).tolist()]
    machine, made = Machine(random, sides), list[Trial]()
    for planned in (planned for group in with_repeats(plan, made, retries) for planned in group):
        rps, is_disturbed = machine.measure(planned)
        verdict = Verdict(kind=VerdictKind.DISTURBED if is_disturbed else VerdictKind.TARGET)
        measurement = MEASUREMENT.model_copy(update={"throughput_rps": rps})
        made.append(MADE.model_copy(update={"plan": planned, "verdict": verdict, "measurement": measurement}))
    one, other = (headline([trial for trial in made if trial.plan.target == name]) for name in (ONE, OTHER))
    return dict(one), dict(other), len(made)


@pytest.mark.parametrize("rounds", [3, 5, 10, 20])
@pytest.mark.parametrize("sides", [frozenset({ONE}), frozenset({ONE, OTHER})], ids=["beside one", "beside both"])
def test_equal_servers_rarely_differ_despite_another_program(sides: frozenset[str], rounds: int) -> None:
    random = np.random.default_rng(rounds)
    claims = kept = trials = 0
    runs = ROUNDS // rounds
    for _ in range(runs):
        one, other, made = figures(random, rounds, sides, retries=2)
        found = compare(one, other)
        claims += found is not None and found.differs
        kept += len(one) + len(other)
        trials += made
    assert claims / runs <= FALSE_CLAIMS_MAX + 2 * np.sqrt(FALSE_CLAIMS_MAX / runs)
    assert kept / (2 * rounds * runs) > 0.97, "repeats replace nearly all that was disturbed"
    assert trials / (2 * rounds * runs) < 1.25, "and cost little"


def test_finds_a_10_percent_difference_despite_another_program() -> None:
    random = np.random.default_rng(19)
    found = 0
    for _ in range(200):
        one, other, _ = figures(random, 5, frozenset({ONE, OTHER}), retries=2)
        comparison = compare({number: 0.9 * value for number, value in one.items()}, other)
        found += comparison is not None and comparison.differs
    assert found / 200 >= 0.95


def test_simulated_trials_are_judged_like_stored_ones() -> None:
    """Check that the simulation uses the same functions as real trials."""
    machine = Machine(np.random.default_rng(1), frozenset())
    machine._stranger = 0.3
    evidence = machine._evidence(make_plan())
    trial = make_trial(make_plan(), target_usage=make_usage(0.7), generator_usage=GENERATOR, occupancy=evidence.observed.occupancy)
    assert trial.measurement is not None
    assert disturbances(evidence)
    quiet = [Machine(np.random.default_rng(seed), frozenset())._evidence(make_plan()) for seed in range(500)]
    assert not any(map(disturbances, quiet)), "errors of ticks disturb nothing"
