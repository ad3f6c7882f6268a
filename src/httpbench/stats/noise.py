"""What a machine can tell apart: from A/A pairs, one server measured twice in each round.

The ratio of a pair is 1 and nothing else is true, so whatever it shows is the machine's noise. Over n pairs its size s is the root mean
square of the logarithms, with n degrees of freedom: no mean is estimated, as it is known to be 0. Whatever favours the one that happened
to come first, or its layout in memory, is in it.

A comparison of R rounds is a mean of R such logarithms. Of identical servers it is, in 95 % of cases, within ± t(0.975; n) · s / √R: the
prediction interval of a future mean about a known one (G. J. Hahn, W. Q. Meeker, «Statistical Intervals», Wiley 1991, on prediction
intervals for the mean of a future sample, without the term for the error of the mean). What is less is noise here.

It is a floor and no more: one bare server under one load. A server that collects garbage, or another number of connections, has more
noise, and that stands in its own intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from httpbench.model import Noise, Run, Trial
from httpbench.stats.figures import CPU, P99, THROUGHPUT
from httpbench.stats.interval import ROUNDS_MIN, quantile
from httpbench.stats.paired import log_ratios

FIGURES = (THROUGHPUT, P99, CPU)


def noise_of(run: Run, trials: Sequence[Trial]) -> Noise | None:
    """From the A/A pairs of a run; ``None`` where fewer than three of them count, or where there are no two of one load."""
    ids = list(run.targets)
    if len(ids) != 2 or not trials or len({trial.plan.cell[1:] for trial in trials}) != 1:
        return None
    one, other = ([trial for trial in trials if trial.plan.target == name] for name in ids)
    ratios = {figure.name: log_ratios(figure.rounds(one), figure.rounds(other)) for figure in FIGURES}
    rounds = len(ratios[THROUGHPUT.name])
    if rounds < ROUNDS_MIN:
        return None
    load, environment = trials[0].plan.load, run.environment
    return Noise(
        run=run.id,
        made_at=run.started_at,
        hostname=environment.hostname,
        cpu_model=environment.cpu_model,
        kernel=environment.kernel,
        tuning=environment.tuning,
        target=min(ids, key=len),
        connections=load.connections,
        duration_s=load.duration_s,
        rounds=rounds,
        deviation={name: float(np.sqrt((logs**2).mean())) for name, logs in ratios.items() if len(logs) == rounds},
    )


def floor(noise: Noise, figure: str, rounds: int) -> float | None:
    """The relative difference up to which a comparison of this many rounds shows nothing; ``None`` for a figure without A/A pairs."""
    deviation = noise.deviation.get(figure)
    if deviation is None:
        return None
    return math.expm1(quantile(noise.rounds + 1) * deviation / math.sqrt(rounds))
