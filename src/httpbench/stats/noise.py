"""What a machine can tell apart: from A/A pairs, one server measured twice in each round.

The ratio of a pair is 1 and nothing else is true, so whatever it shows is the machine's noise. Over n pairs its size s is the root mean
square of the logarithms, with n degrees of freedom: no mean is estimated, as it is known to be 0. Whatever favours the one that happened
to come first, or its layout in memory, is in it.

A comparison of R rounds is a mean of R such logarithms. Of identical servers it is, in 95% of cases, within ± t(0.975; n) · s / √R: the
prediction interval of a future mean about a known one (G. J. Hahn, W. Q. Meeker, «Statistical Intervals», Wiley 1991, on prediction
intervals for the mean of a future sample, without the term for the error of the mean). What is less is noise here.

It is a floor and no more: one bare server under one load. A server that collects garbage has more noise, and that stands in its own
intervals. Nothing is known of another load.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

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
}
"""What must be alike, by name. Not the duration: A/A pairs are short, and longer trials have less noise."""


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
        httpbench_version=environment.httpbench_version,
        cpus_allowed=environment.cpus_allowed,
        cpu_quota_cores=environment.cpu_quota_cores,
        target=min(ids, key=len),
        connections=load.connections,
        load=load,
        workload=trials[0].plan.workload,
        request=run.workloads[trials[0].plan.workload].request,
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


def other_load(noise: Noise, load: Load, workload: Workload) -> str | None:
    """How a load of servers differs from that of the A/A pairs: ``connections 64 → 256``; ``None``: it does not."""
    return ", ".join(_differences(noise, load, workload)) or None


def _differences(noise: Noise, load: Load, workload: Workload) -> Iterator[str]:
    measured = noise.load or Load(connections=noise.connections)
    for field, name in LOAD_ALIKE.items():
        before, after = getattr(measured, field), getattr(load, field)
        if before != after:
            yield f"{name} {_text(before)} → {_text(after)}"
    if workload.kind is not Kind.SERVER or workload.parts or workload.request != noise.request:
        yield f"workload {noise.workload} → {workload.name}"


def _text(value: float | None) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,g}"
