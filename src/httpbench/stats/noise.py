"""Compute the noise floor of a machine from A/A pairs, in which the same server is measured twice in each round.

The true ratio of each A/A pair is 1, so any other ratio is due to noise. Over n pairs, the size s of the noise is the root mean square of
the logarithms of the ratios. It has n degrees of freedom, because the mean of the logarithms is known to be 0. The noise includes effects
of the order of trials and of memory layout.

The result of a comparison over R rounds is the mean of R such logarithms. For identical servers, this mean is within ± t(0.975; n) · s / √R
in 95% of cases. This range is the prediction interval of a future mean when the true mean is known (G. J. Hahn, W. Q. Meeker, "Statistical
Intervals", Wiley 1991, on prediction intervals for the mean of a future sample, without the term for the error of the mean). Smaller
differences can't be distinguished from noise on this machine.

The result is only a lower bound, because it describes one simple server under one load. A server with garbage collection has more noise,
which widens its own intervals. The noise may be different under other loads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from httpbench.model import Kind, Load, Noise, Run, Trial, Workload
from httpbench.stats.figures import CPU, P99, THROUGHPUT
from httpbench.stats.interval import ROUNDS_MIN, quantile
from httpbench.stats.paired import log_ratios

FIGURES = (THROUGHPUT, P99, CPU)

LOAD_ALIKE = {
    "connections": "connections",
    "threads": "threads",
    "pipeline": "pipeline depth",
    "keepalive": "keep-alive",
    "requests_per_connection": "requests per connection",
    "rate_from_rps": "first rate",
    "rate_rps": "rate",
    "arrivals": "arrivals",
}
"""Properties in which a load must match the load of the A/A pairs, with their names in warnings. The duration may differ: A/A pairs are
short, and longer trials have less noise."""


def noise_of(run: Run, trials: Sequence[Trial]) -> Noise | None:
    """Return the noise of a run's A/A pairs; ``None`` if fewer than three pairs count or if the trials have different loads."""
    ids = list(run.targets)
    if len(ids) != 2 or not trials or len({trial.plan.cell[1:] for trial in trials}) != 1:
        return None
    one, other = ([trial for trial in trials if trial.plan.target == name] for name in ids)
    ratios = {figure.name: log_ratios(figure.rounds(one), figure.rounds(other)) for figure in FIGURES}
    rounds = len(ratios[THROUGHPUT.name])
    if rounds < ROUNDS_MIN:
        return None
    load = trials[0].plan.load
    return Noise(
        run=run.id,
        made_at=run.started_at,
        **run.environment.model_dump(include=set(Noise.model_fields)),
        target=min(ids, key=len),
        connections=load.connections,
        load=load,
        workload=trials[0].plan.workload,
        request=run.workloads[trials[0].plan.workload].request,
        duration_s=load.duration_s,
        in_slices=trials[0].plan.slices is not None,
        rounds=rounds,
        deviation={name: float(np.sqrt((logs**2).mean())) for name, logs in ratios.items() if len(logs) == rounds},
    )


def floor(noise: Noise, figure: str, rounds: int) -> float | None:
    """Return the noise floor of a comparison over this number of rounds, as a relative difference.

    Returns ``None`` if the A/A pairs don't include this result.
    """
    deviation = noise.deviation.get(figure)
    if deviation is None:
        return None
    return math.expm1(quantile(noise.rounds + 1) * deviation / math.sqrt(rounds))


def other_load(noise: Noise, load: Load, workload: Workload) -> str | None:
    """Describe how a load differs from the load of the A/A pairs, such as ``connections 64 → 256``; ``None`` if the loads are alike."""
    measured = noise.load or Load(connections=noise.connections)
    changes = {name: (getattr(measured, field), getattr(load, field)) for field, name in LOAD_ALIKE.items()}
    differences = [f"{name} {_text(before)} → {_text(after)}" for name, (before, after) in changes.items() if before != after]
    if workload.kind is not Kind.SERVER or not workload.has_one_request or workload.request != noise.request:
        differences.append(f"workload {noise.workload} → {workload.name}")
    return ", ".join(differences) or None


def _text(value: float | None) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,g}"
