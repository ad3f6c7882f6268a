"""Functions that make runs and trials for tests. The defaults are complete and plausible."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any

from hdrh.histogram import HdrHistogram

from httpbench.model import (
    Build,
    Category,
    ClientMeasurement,
    Commit,
    CoreOccupancy,
    Cores,
    Distribution,
    Environment,
    HostShare,
    Kind,
    Label,
    Limit,
    Load,
    LoadHost,
    LoadHostUse,
    Measurement,
    Noise,
    Observation,
    Others,
    Probed,
    Profile,
    Proof,
    Reason,
    ReasonKind,
    Requests,
    RoundTrips,
    Run,
    RunStatus,
    SampledResponse,
    Scaling,
    Stalls,
    Startup,
    Stranger,
    Target,
    Timing,
    Trait,
    Trial,
    TrialPlan,
    Tuning,
    Usage,
    Verdict,
    VerdictKind,
    WorkDone,
    Workload,
)
from httpbench.stats.disturbance import disturbance
from httpbench.stats.evidence import fill
from httpbench.stats.noise import noise_of

APART = Cores(target=(0,), generator=(1,), harness=(2,), shared=False)
SHARED = Cores(target=(0, 1), generator=(0, 1), harness=(0, 1), shared=True)
TARGET_LIMITED = Verdict(kind=VerdictKind.TARGET)

HELLO = "Hello, World!"


def make_target(name: str = "c/epoll/level", **changes: Any) -> Target:
    """Return a target, by default a server. Ids of clients and proxies get their prefix."""
    language, framework, *variant = name.split("/")
    kind = changes.get("kind", Kind.SERVER)
    values: dict[str, Any] = {
        "id": name if kind is Kind.SERVER or name.startswith(f"{kind}:") else f"{kind}:{name}",
        "kind": kind,
        "language": language,
        "framework": framework,
        "variant": variant[0] if variant else None,
        "category": Category.PLATFORM,
        "tuning": Tuning.DEFAULT,
        "upstream": "https://example.org/",
        "build": Build(),
        "run": ("./server", "{port}"),
        "scaling": (Scaling.SINGLE,),
        "folder": "/targets/" + name,
    }
    return Target(**{**values, **changes})


def make_proof(name: str = "c/epoll/level", **changes: Any) -> Proof:
    values: dict[str, Any] = {
        "id": name,
        "date": datetime.date(2026, 11, 22),
        "os": "Debian GNU/Linux 12 (bookworm)",
        "toolchain": {"gcc": "12.2.0"},
        "scaling": (Scaling.SINGLE, Scaling.MULTI),
        "sources": "0123456789ab",
    }
    return Proof(**{**values, **changes})


TARGETS = [
    make_target("c/epoll/level", category=Category.MICRO),
    make_target("c/epoll/edge", category=Category.MICRO),
    make_target("c/nginx"),
    make_target("golang/fasthttp"),
    make_target("golang/net-http"),
    make_target("dlang/epoll/level", category=Category.MICRO),
    make_target("golang/http-client", kind=Kind.CLIENT),
    make_target("c/haproxy", kind=Kind.PROXY),
]
"""A small catalog."""


def make_histogram(values_ns: Sequence[int]) -> str:
    """Return a histogram as the store keeps it: compressed and in base64."""
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    for value in values_ns:
        histogram.record_value(value)
    return str(histogram.encode(), "ascii")


def make_distribution(p50_us: float = 150.0, count: int = 1_000_000, **changes: Any) -> Distribution:
    values: dict[str, Any] = {
        "count": count,
        "min": p50_us * 0.4,
        "mean": p50_us * 1.05,
        "stddev": p50_us * 0.3,
        "max": p50_us * 20,
        "tm99_9": p50_us * 1.04,
        "p25": p50_us * 0.8,
        "p50": p50_us,
        "p75": p50_us * 1.2,
        "p90": p50_us * 1.5,
        "p95": p50_us * 1.8,
        "p99": p50_us * 2.5,
        "p99_9": p50_us * 5,
        "p99_99": p50_us * 10,
    }
    return Distribution(**{**values, **changes})


def make_measurement(throughput_rps: float = 400_000.0, duration_s: float = 10.0, **changes: Any) -> Measurement:
    completed = round(throughput_rps * duration_s)
    values: dict[str, Any] = {
        "generator": "native",
        "generator_version": "0.1.0",
        "means_every_request": True,
        "stalls": Stalls(count=0, longest_us=0, total_us=0),
        "duration_s": duration_s,
        "requests": Requests(sent=completed, completed=completed, ok=completed),
        "bytes_received": completed * 152,
        "throughput_rps": throughput_rps,
        "service_time_us": make_distribution(64 / throughput_rps * 1e6 / 1.05, completed),
    }
    return Measurement(**{**values, **changes})


def make_usage(cpu_cores: float = 0.99, **changes: Any) -> Usage:
    values: dict[str, Any] = {
        "cpu_s": cpu_cores * 10,
        "cpu_cores_mean": cpu_cores,
        "cpu_cores_peak": cpu_cores * 1.01,
        "rss_bytes_peak": 12_000_000,
        "pss_bytes_peak": 9_500_000,
        "rss_bytes_mean": 11_000_000.0,
        "pss_bytes_mean": 8_200_000.0,
        "processes_peak": 1,
    }
    return Usage(**{**values, **changes})


def make_commit(number: int) -> Commit:
    """Return a commit with this number, from 0 to 29, in its hash, its date and its subject."""
    name = f"{number + 1:02x}" * 20
    date = f"2026-11-{number or 30:02}T08:00:00+00:00"
    return Commit(id=name, tree=name[::-1], author="Ada <ada@example.test>", date=date, subject=f"Change {number}")


def make_host_share(name: str = "load1", **changes: Any) -> HostShare:
    values: dict[str, Any] = {
        "connections": 32,
        "threads": 1,
        "completed": 1000,
        "throughput_rps": 500.0,
        "busy": 0.5,
        "waiting": 0.01,
        "stalled_us": 0.0,
        "lag_us_p99": 200.0,
        "start_ms": 0.0,
        "round_trip_ms": 1.0,
    }
    return HostShare(name=name, **{**values, **changes})


def make_work(**changes: Any) -> WorkDone:
    """Return the record of 1000 sequential requests for 12 bytes each over one connection."""
    values: dict[str, Any] = {
        "requests": 1000,
        "connections": 1,
        "in_flight_max": 1,
        "pipelined": 0,
        "wrong_requests": 0,
        "body_bytes_sent": 12_000,
        "bytes_sent": 140_000,
    }
    return WorkDone(**{**values, **changes})


def make_client(wall_s: float, startup_s: float = 0.1, cpu_s: float = 0.05, rss_bytes_peak: int = 4_000_000) -> ClientMeasurement:
    return ClientMeasurement(
        timer="native",
        timer_version="0.1.0",
        requests=1000,
        whole=Timing(wall_s=wall_s, user_s=cpu_s, system_s=0.01, rss_bytes_peak=rss_bytes_peak),
        startup=Timing(wall_s=startup_s, user_s=0.01, system_s=0.0),
        done=make_work(),
        done_held=make_work(requests=10, body_bytes_sent=120),
    )


def make_startup(ready_s: float = 0.012, **changes: Any) -> Startup:
    values: dict[str, Any] = {
        "ready_s": ready_s,
        "first_us": 350.0,
        "steady_s": 0.4,
        "rss_bytes_ready": 9_000_000,
        "pss_bytes_ready": 8_000_000,
        "rss_bytes_rest": 11_000_000,
        "pss_bytes_rest": 10_000_000,
        "installed_bytes": 2_500_000,
    }
    return Startup(**{**values, **changes})


def make_starts(target: str, ready_s: Sequence[float], **changes: Any) -> list[Trial]:
    """Return the rounds of a target whose start-up was measured, one trial for each time."""
    load = Load(connections=64, threads=1, duration_s=5, warmup_s=0, rest_s=5)
    return [
        make_trial(make_plan(target, round_=index, load=load), startup=make_startup(time_s, **changes))
        for index, time_s in enumerate(ready_s)
    ]


def make_plan(target: str = "c/epoll/level", round_: int = 0, number: int = 0, load: Load | None = None, **changes: Any) -> TrialPlan:
    values: dict[str, Any] = {
        "number": number,
        "round": round_,
        "target": target,
        "scaling": Scaling.SINGLE,
        "workload": "plaintext",
        "load": load or Load(connections=64, threads=1),
        "load_generator": "native",
        "cores": APART,
    }
    return TrialPlan(**{**values, **changes})


def make_response(size_bytes: int = 152, **changes: Any) -> SampledResponse:
    values: dict[str, Any] = {
        "status": 200,
        "headers": (("Content-Type", "text/plain"), ("Content-Length", "13"), ("Server", "epoll")),
        "body": HELLO,
        "size_bytes": size_bytes,
    }
    return SampledResponse(**{**values, **changes})


def make_probed(label: Label = Label.SERVER, *reasons: str) -> Probed:
    holds = label in (Label.ROUTER, Label.SERVER)
    routes = Observation(trait=Trait.ROUTES, holds=holds, sent="two paths", came="404 to one" if holds else "200 to both")
    return Probed(label=label, reasons=reasons, response_bytes=152, observations=(routes,))


def make_trial(plan: TrialPlan | None = None, verdict: Verdict = TARGET_LIMITED, rps: float = 400_000.0, **changes: Any) -> Trial:
    values: dict[str, Any] = {
        "plan": plan or make_plan(),
        "started_at": "2026-11-21T08:00:00.000Z",
        "verdict": verdict,
        "measurement": make_measurement(rps),
        "target_usage": make_usage(),
        "generator_usage": make_usage(0.6),
        "response": make_response(),
        "overhead_s": 0.4,
    }
    return Trial(**{**values, **changes})


def make_stranger(name: str = "spin", cores: float = 0.5, pid: int = 4711, cpus: Sequence[int] = (0,), **changes: Any) -> Stranger:
    """Return a stranger that is pinned to these CPUs."""
    return Stranger(**{"name": name, "pid": pid, "cores": cores, "cpus": tuple(cpus), "cpus_allowed": tuple(cpus), **changes})


def make_disturbed(plan: TrialPlan | None = None, stranger: Stranger | None = None, rps: float = 200_000.0, **changes: Any) -> Trial:
    """Return a disturbed trial in which another process took half of the target's core."""
    found = stranger or make_stranger()
    trial = make_trial(
        plan,
        rps=rps,
        target_usage=make_usage(1 - found.cores),
        occupancy=(CoreOccupancy(cpu=0, busy=1.0, stolen=0.0), CoreOccupancy(cpu=1, busy=0.6, stolen=0.0)),
        others=Others(strangers=(found,)),
        **changes,
    )
    verdict = Verdict(kind=VerdictKind.DISTURBED, reasons=disturbance(trial))
    return trial.model_copy(update={"verdict": verdict})


def make_failed(plan: TrialPlan, reason: str = "did not respond within 10 s", log_tail: str | None = None) -> Trial:
    verdict = Verdict(kind=VerdictKind.FAILED, reasons=(Reason.of(ReasonKind.NOT_STARTED, message=reason),))
    return Trial(plan=plan, started_at="2026-11-21T08:00:00.000Z", verdict=verdict, log_tail=log_tail)


def make_environment(**changes: Any) -> Environment:
    values: dict[str, Any] = {
        "hostname": "bench-1",
        "cpu_model": "AMD EPYC 7B13",
        "cpus_online": 8,
        "cpus_allowed": tuple(range(8)),
        "smt": False,
        "governor": "performance",
        "turbo": False,
        "mitigations": {},
        "memory_bytes": 16_000_000_000,
        "kernel": "6.1.0-28-amd64",
        "os": "Debian GNU/Linux 12 (bookworm)",
        "virtualization": None,
        "load_average_1m": 0.1,
        "open_files_limit": 1_048_576,
        "cgroup_version": 2,
        "git_commit": "0123456789abcdef",
        "httpbench_version": "0.1.0",
        "versions": {"gcc": "12.2.0", "go": "1.26.0"},
    }
    return Environment(**{**values, **changes})


def make_load_host(name: str = "load1", cores: int = 4, **changes: Any) -> LoadHost:
    values: dict[str, Any] = {
        "name": name,
        "address": "192.0.2.1",
        "cpus": tuple(range(cores)),
        "cores": cores,
        "round_trips": RoundTrips(count=50, min_us=90.0, p50_us=100.0, max_us=400.0),
        "environment": make_environment(hostname=name, git_commit=None, versions={"native": "0.1.0"}),
    }
    return LoadHost(**{**values, **changes})


def make_load_host_use(busy: Sequence[float] = (0.6,), **changes: Any) -> LoadHostUse:
    """Return the observed usage of a load host whose CPUs have these busy shares."""
    occupancy = tuple(CoreOccupancy(cpu=cpu, busy=share, stolen=0.0) for cpu, share in enumerate(busy))
    return LoadHostUse(**{"name": "load1", "cores": len(busy), "occupancy": occupancy, **changes})


def make_run(trials: Sequence[Trial], targets: Mapping[str, Target] | None = None, **changes: Any) -> Run:
    names = dict.fromkeys(trial.plan.target for trial in trials)
    values: dict[str, Any] = {
        "id": "20261121T080000-c0de",
        "started_at": "2026-11-21T08:00:00.000Z",
        "finished_at": "2026-11-21T08:05:00.000Z",
        "status": RunStatus.FINISHED,
        "command": ("httpbench", "bench"),
        "environment": make_environment(),
        "plan": tuple(trial.plan for trial in trials),
        "targets": {name: (targets or {}).get(name) or make_target(name) for name in names},
        "workloads": {"plaintext": Workload(name="plaintext", description="Hello, World!")},
    }
    return Run(**{**values, **changes})


def make_profile(target: str = "c/epoll/level", **changes: Any) -> Profile:
    plan = make_plan(target)
    values: dict[str, Any] = {
        **{name: getattr(plan, name) for name in ("target", "scaling", "workload", "load")},
        "profiler": "perf (cpu-clock)",
        "frequency_hz": 997,
        "throughput_rps": 380_000.0,
        "slices": (),
    }
    return Profile(**{**values, **changes})


def make_rounds(target: str, rps: Sequence[float], *, plan: Mapping[str, Any] | None = None, **changes: Any) -> list[Trial]:
    """Return the rounds of one cell, one trial for each rate."""
    return [make_trial(make_plan(target, round_=index, **(plan or {})), rps=rate, **changes) for index, rate in enumerate(rps)]


def make_pairs(logs: Sequence[float]) -> tuple[Run, list[Trial]]:
    """Return a run of A/A pairs, one per round, with these log ratios."""
    one, again = "c/epoll/edge", "c/epoll/edge-again"
    trials = [*make_rounds(one, [100_000.0] * len(logs)), *make_rounds(again, [100_000.0 * math.exp(value) for value in logs])]
    return make_run(trials, {one: make_target(one), again: make_target(again)}, measures_noise=True), trials


def make_noise(logs: Sequence[float]) -> Noise:
    """Return the noise of A/A pairs with these log ratios."""
    found = noise_of(*make_pairs(logs))
    assert found is not None
    return found


def make_mixed_run() -> tuple[Run, list[Trial]]:
    """Return a run with two loads and one row for each outcome: target, generator, idle, partly invalid, invalid, failed."""
    generator = Verdict(
        kind=VerdictKind.GENERATOR,
        reasons=(Reason.of(ReasonKind.GENERATOR_BOUND, programs=[fill("generator", 1.0, 1), fill("target", 0.62, 1)]),),
    )
    idle = Verdict(
        kind=VerdictKind.IDLE,
        reasons=(Reason.of(ReasonKind.NEITHER_BUSY, programs=[fill("generator", 0.1, 1), fill("target", 0.31, 1)]),),
    )
    counted = Reason.of(ReasonKind.WRONG_RESPONSES, wrong=1204, completed=402_113, errors={"unexpected_status": 1204})
    wrong = Verdict(kind=VerdictKind.INVALID, reasons=(counted,))
    meinheld = make_rounds("python/gunicorn-meinheld", (61_250, 60_871, 61_034), response=make_response(181))
    meinheld[1] = meinheld[1].model_copy(update={"verdict": wrong})
    trials = [
        *make_rounds("c/epoll/level", (412_345.6, 405_210.2, 409_871.3), probed=make_probed(Label.LOOP)),
        *make_rounds("c/nginx", (251_002, 249_311, 250_404), verdict=generator, target_usage=make_usage(0.62)),
        *make_rounds("golang/fasthttp", (312_002, 301_311, 318_404), probed=make_probed()),
        *make_rounds(
            "node/express",
            (9_120, 9_011, 9_401),
            verdict=idle,
            target_usage=make_usage(0.31, pss_bytes_peak=71_200_000),
            probed=make_probed(Label.CANNED, "failed: updates Date (a request → still «Sat» after 9 s)"),
        ),
        *meinheld,
        *make_rounds("rust/actix-raw", (402_113,) * 3, verdict=wrong),
        *(
            make_failed(make_plan("rust/hyper", round_=index), log_tail="thread 'main' panicked at src/main.rs:12\nAddress in use")
            for index in range(3)
        ),
        *make_rounds("c/epoll/level", (398_211, 401_300, 400_020), plan={"load": Load(connections=256, threads=1)}),
        *make_rounds("golang/fasthttp", (298_211, 301_300, 300_020), plan={"load": Load(connections=256, threads=1)}),
    ]
    numbered = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"number": number})}) for number, trial in enumerate(trials)]
    targets = {
        "c/epoll/level": make_target(
            "c/epoll/level", category=Category.MICRO, tuning=Tuning.ENGINE, limits=(Limit.NO_ROUTER, Limit.NO_METHOD)
        ),
    }
    return make_run(numbered, targets), numbered
