"""Synthetic runs as large as real ones, with noise, time series and full histograms. Tests of pages and charts use them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product

import numpy as np
from hdrh.histogram import HdrHistogram

from httpbench.model import (
    Arrivals,
    Bound,
    ClientWork,
    Commands,
    Distribution,
    Interval,
    Kind,
    Load,
    Reason,
    ReasonKind,
    Run,
    Sample,
    Search,
    ServiceLevel,
    Step,
    Table,
    Trial,
    Usage,
    Verdict,
    VerdictKind,
    Workload,
)
from httpbench.quantiles import figures_us, recorded
from httpbench.run.proxy.trial import BASELINE
from httpbench.stats.evidence import fill
from tests.factories import (
    make_client,
    make_failed,
    make_measurement,
    make_plan,
    make_probed,
    make_run,
    make_target,
    make_trial,
    make_usage,
)

SAMPLES, SAMPLES_WHOLE = 20_000, 200_000
"""Number of samples per distribution. The larger number gives histograms as large as those of real runs."""
SERVERS = (
    "c/epoll/level",
    "c/nginx",
    "c/io_uring",
    "cpp/drogon",
    "dlang/epoll",
    "golang/fasthttp",
    "golang/net-http",
    "java/netty",
    "node/cluster",
    "python/gunicorn",
    "rust/actix-web",
    "rust/hyper",
)
CLIENT_TIMES_S = {"client:c/curl": (0.11, 0.12, 0.10), "client:golang/http-client": (0.21, 0.2, 0.25)}
BOUND = Reason.of(ReasonKind.GENERATOR_BOUND, programs=[fill("generator", 1.0, 1), fill("target", 0.62, 1)])
LOG = "thread 'main' panicked at src/main.rs:12\nAddress in use"


def make_times(p50_us: float, seed: int, samples: int = SAMPLES) -> Distribution:
    """Return a lognormal distribution with a long tail, including its histogram."""
    chance = np.random.default_rng(seed)
    values = np.exp(chance.normal(math.log(p50_us * 1000), 0.5, samples))
    tail = chance.random(samples) < 0.02
    values[tail] *= chance.pareto(1.5, int(tail.sum())) + 2
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    unit = 10 ** max(math.floor(math.log10(p50_us * 1000)) - 2, 0)
    rounded, counts = np.unique((values / unit).astype(np.int64) * unit, return_counts=True)
    for value, count in zip(rounded, counts, strict=True):
        histogram.record_value(int(value), int(count))
    return Distribution(count=samples, histogram=histogram.encode().decode("ascii"), **figures_us(recorded(histogram)))


@cache
def make_servers_run(
    targets: tuple[str, ...] = SERVERS, connections: tuple[int, ...] = (8, 64, 512), rounds: int = 3, duration_s: float = 10.0
) -> tuple[Run, list[Trial]]:
    """Return a run of a suite, fastest target first. One target is limited by the generator, and another one never starts."""
    trials: list[Trial] = []
    for round_ in range(rounds):
        for place, name in enumerate(targets):
            for number in connections:
                load = Load(connections=number, threads=1, duration_s=duration_s)
                plan = make_plan(name, round_, len(trials), load)
                if place == len(targets) - 1 and place > 2:
                    trials.append(make_failed(plan, log_tail=LOG))
                    continue
                trials.append(_server_trial(plan.number, place, load, name, round_))
    return make_run(trials, {name: make_target(name) for name in targets}), trials


def _server_trial(number: int, place: int, load: Load, name: str, round_: int) -> Trial:
    chance = np.random.default_rng(number)
    rps = 400_000 * 0.82**place * (1 - 1 / (1 + load.connections / 8)) * float(chance.normal(1, 0.01))
    p50_us = load.connections / rps * 1e6
    generator = Verdict(kind=VerdictKind.GENERATOR, reasons=(BOUND,))
    return make_trial(
        make_plan(name, round_, number, load),
        verdict=generator if place == 1 else Verdict(kind=VerdictKind.TARGET),
        measurement=make_measurement(
            rps,
            load.duration_s,
            service_time_us=make_times(p50_us, number, SAMPLES_WHOLE),
            intervals=_intervals(rps, p50_us, load.duration_s, number),
            errors={"timeout": 3} if number % 17 == 0 else {},
        ),
        target_usage=_usage(0.99, load.duration_s, number),
        generator_usage=_usage(0.6, load.duration_s, number + 1),
        commands=_commands(load, number),
        probed=make_probed() if round_ == 0 else None,
    )


def _commands(load: Load, number: int) -> Commands:
    url = f"http://127.0.0.1:{16_000 + number}/"
    options = (
        "-c",
        str(load.connections),
        "-t",
        "1",
        "-d",
        "10000ms",
        "--warmup",
        "2000ms",
        "--timeout",
        "2000ms",
        "--expect-status",
        "200",
    )
    return Commands(
        target=("./server", "127.0.0.1", str(16_000 + number)), load=("/usr/bin/httpbench-loadgen", *options, "--json", "-", url)
    )


def _intervals(rps: float, p50_us: float, duration_s: float, seed: int) -> tuple[Interval, ...]:
    chance = np.random.default_rng(seed + 1000)
    return tuple(
        Interval(
            start_s=at / 4,
            duration_s=0.25,
            completed=round(rps / 4 * float(chance.normal(1, 0.02))),
            p50_us=round(p50_us * float(chance.normal(1, 0.02)), 3),
            p90_us=round(p50_us * 1.7, 3),
            p99_us=round(p50_us * 2.4 * float(chance.lognormal(0, 0.15)), 3),
            p99_9_us=round(p50_us * 5.1 * float(chance.lognormal(0, 0.25)), 3),
        )
        for at in range(round(duration_s * 4))
    )


def _usage(cores: float, duration_s: float, seed: int) -> Usage:
    chance = np.random.default_rng(seed + 2000)
    samples = tuple(
        Sample(
            at_s=at / 10,
            cpu_cores=min(cores * float(chance.normal(1, 0.05)), 1.0),
            rss_bytes=12_000_000 + 4096 * int(chance.integers(0, 900)),
            processes=1,
        )
        for at in range(1, round(duration_s * 10) + 1)
    )
    return make_usage(cores, samples=samples)


@cache
def make_search_run() -> tuple[Run, list[Trial]]:
    """Return a capacity search in which p99 grows as the rate approaches 50,000 requests/s."""
    search = Search(level=ServiceLevel(bounds=(Bound(figure="p99", limit_us=2000),)), duration_s=5, scout_duration_s=2)
    trials = [make_trial(make_plan(number=0, load=Load(threads=1)), rps=52_000)]
    for rate in (20_000, 30_000, 40_000, 44_000, 45_000, 45_300, 46_000, 48_000):
        for round_ in range(3):
            p50_us = 150 / (1 - rate / 50_500) * 1.02**round_
            load = Load(threads=1, rate_rps=rate, duration_s=5)
            times = make_times(p50_us, len(trials))
            measured = make_measurement(rate, 5, service_time_us=times, response_time_us=times)
            trials.append(make_trial(make_plan(round_=round_, number=len(trials), load=load), measurement=measured))
    return make_run(trials, search=search), trials


@cache
def make_proxies_run(names: tuple[str, ...] = ("proxy:c/haproxy", "proxy:cpp/draft", "proxy:rust/tokio")) -> tuple[Run, list[Trial]]:
    """Return a run of proxies and their baseline under two loads: a rising rate and a closed loop."""
    rising = Load(connections=64, rate_from_rps=2000, rate_rps=5000, rate_step_rps=1000, step_s=3, duration_s=12)
    trials: list[Trial] = []
    for load in (rising, Load(connections=64, duration_s=10)):
        for round_ in range(3):
            for place, name in enumerate((BASELINE.id, *names)):
                trials.append(_proxy_trial(len(trials), name, round_, load, 100 + 45.0 * place))
    targets = {name: make_target(name.removeprefix("proxy:"), id=name, kind=Kind.PROXY) for name in names}
    return make_run(trials, {**targets, BASELINE.id: BASELINE}, table=Table.TCP_PROXIES, baseline=BASELINE.id), trials


@cache
def make_shares_run() -> tuple[Run, list[Trial]]:
    """Return a run of two proxies at shares of their own peaks, 10,000 and 20,000 requests/s. Overloaded, they serve 90% of the peak."""
    peaks = {"proxy:c/haproxy": 10_000.0, "proxy:rust/pingora": 20_000.0}
    trials = [_proxy_trial(round_, BASELINE.id, round_, Load(connections=64), 25.0) for round_ in range(3)]
    for name, peak_rps in peaks.items():
        for share, round_ in product((None, 0.5, 1.5), range(3)):
            load = Load(connections=1000 if share == 1.5 else 64)
            if share is not None:
                changes = {"share_of_peak": share, "peak_of": name, "rate_rps": share * peak_rps, "arrivals": Arrivals.POISSON}
                load = load.model_copy(update=changes)
            for target, p50_us in ((name, 640 / peak_rps * 1e5), *([(BASELINE.id, 50.0)] if share == 0.5 else [])):
                trial = _proxy_trial(len(trials), target, round_, load, p50_us)
                if share == 1.5 and trial.measurement:
                    served = {"throughput_rps": 0.9 * peak_rps}
                    trial = trial.model_copy(update={"measurement": trial.measurement.model_copy(update=served)})
                trials.append(trial)
    targets = {name: make_target(name.removeprefix("proxy:"), id=name, kind=Kind.PROXY) for name in peaks}
    return make_run(trials, {**targets, BASELINE.id: BASELINE}, table=Table.TCP_PROXIES, baseline=BASELINE.id), trials


def _proxy_trial(number: int, name: str, round_: int, load: Load, p50_us: float) -> Trial:
    times = make_times(p50_us * (1 + round_ / 50), number)
    steps = tuple(
        Step(
            rate_rps=level.rate_rps,
            start_s=level.start_s,
            duration_s=level.duration_s,
            completed=round(level.rate_rps * level.duration_s),
            errors=0,
            response_time_us=times.model_copy(update={"histogram": None}),
        )
        for level in load.levels
        if load.step_s
    )
    rps = load.rate_rps or 64 / p50_us * 1e6
    measured = make_measurement(
        rps,
        load.duration_s,
        service_time_us=times,
        response_time_us=times if load.rate_rps else None,
        steps=steps,
        intervals=_intervals(rps, p50_us, load.duration_s, number),
    )
    own = _usage(0.5, load.duration_s, number)
    return make_trial(
        make_plan(name, round_, number, load),
        measurement=measured,
        target_usage=None if name == BASELINE.id else own,
        backend_usage=_usage(0.4, load.duration_s, number + 1),
        generator_usage=_usage(0.3, load.duration_s, number + 2),
    )


def make_clients_run(times: Mapping[str, Sequence[float]] = CLIENT_TIMES_S) -> tuple[Run, list[Trial]]:
    """Return a run with clients that took ``times`` seconds in their rounds, and one that failed."""
    trials = []
    for name, times_s in times.items():
        for index, wall_s in enumerate(times_s):
            plan = make_plan(name, round_=index, workload="client-small-1000")
            measured = make_client(wall_s, startup_s=0.01)
            trials.append(make_trial(plan, measurement=None, target_usage=None, client=measured))
    trials.append(make_failed(make_plan("client:rust/hyper", workload="client-small-1000"), "crashed"))
    names = (*times, "client:rust/hyper")
    targets = {name: make_target(name.removeprefix("client:"), id=name, kind=Kind.CLIENT) for name in names}
    workload = Workload(name="client-small-1000", description="", client=ClientWork(requests=1000))
    return make_run(trials, targets, table=Table.HTTP_CLIENTS, workloads={workload.name: workload}), trials
