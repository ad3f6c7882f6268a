"""Text for loads and for the use of cores: table titles, command-line options and chart labels."""

from __future__ import annotations

from collections.abc import Iterator

from httpbench.analysis.changes import Cell
from httpbench.analysis.history import Series
from httpbench.analysis.rows import Group, LoadOrigin
from httpbench.model import STEADY_S_MIN, Arrivals, ClientWork, Fault, Load, Scaling
from httpbench.report.words.numbers import plural
from httpbench.stats.interval import ROUNDS_MIN
from httpbench.stats.summary import Summary

# --- as command-line options ----------------------------------------------------------------------------------------------------


def place(cell: Cell | Summary) -> str:
    """Return a target and its load: ``c/nginx, plaintext single -c 64``."""
    return f"{cell.target}, {load_text(cell)}"


def load_text(cell: Cell | Summary | Series) -> str:
    """Return a load as options, including every option that isn't the default: ``plaintext single -c 64``."""
    return " ".join(filter(None, load_parts(cell)))


def load_parts(cell: Cell | Summary | Series) -> tuple[str, ...]:
    """Return the workload, the scaling and each option. Options that have their default value are empty strings."""
    return (cell.workload, str(cell.scaling), *load_options(cell.load))


def load_options(load: Load) -> tuple[str, ...]:
    """Return the option for connections and all other options. Options that have their default value are empty strings."""
    return (
        f"-c {load.connections}",
        f"--rate {load.rate_rps:g}" if load.rate_rps else "",
        f"--arrivals {load.arrivals}" if load.rate_rps and load.arrivals is not Arrivals.CONSTANT else "",
        "--tls" if load.tls else "",
        "--http2" if load.http2 else "",
        f"--pipeline {load.pipeline}" if load.pipeline > 1 else "",
        "" if load.keepalive else "--no-keepalive",
        "--tls-resumption" if load.tls_resumption else "",
        f"--requests-per-connection {load.requests_per_connection}" if load.requests_per_connection else "",
        "--startup" if load.is_of_startup else "",
        _fault_label(load),
    )


# --- in words -------------------------------------------------------------------------------------------------------------------


def title(group: Group) -> str:
    """Return the title of a table: ``plaintext · target on one core · 64 connections · 10 s``."""
    return " · ".join(_client_title(group, group.client_work) if group.client_work is not None else _title(group))


def method(group: Group) -> str:
    """Say how a table was measured: rounds, kind of latency, warm-up and load generator."""
    version = f" {group.generator_version}" if group.generator_version else ""
    if group.client_work is not None:
        rounds = f"median of {group.rounds} rounds" if group.rounds > 1 else "1 round"
        return f"{rounds} · timed by {group.load_generator}{version}"
    threads = f", {plural(group.load.threads, 'thread')}" if group.load.threads else ""
    if group.load.is_of_startup:
        starts = f"median of {group.rounds} starts, ±: 95% interval" if group.rounds >= ROUNDS_MIN else plural(group.rounds, "start")
        return f"{starts} · without a warm-up · load generator {group.load_generator}{version}{threads}"
    rounds = f"median of {group.rounds} rounds" if group.rounds > 1 else "1 round"
    rounds += f" of {plural(group.slices, 'slice')} in turns" if group.slices else ""
    rounds += ", ±: 95% interval" if group.rounds >= ROUNDS_MIN else ""
    return f"{rounds} · {latency_words(group)} · {_warmup(group)} · load generator {group.load_generator}{version}{threads}"


def latency_words(group: Group) -> str:
    """Return what the latencies of a table are."""
    if group.has_events:
        return "time to the first event"
    return "response time" if not group.load.is_overload and any(row.summary.response_time_us for row in group.rows) else "service time"


def throughput_unit(group: Group) -> str:
    """Return the unit of the throughput in a table."""
    return "events/s" if group.has_events else "requests/s"


def scaling_words(scaling: Scaling, target_cores: int, workers: int | None) -> str:
    """Describe how targets used cores: ``target on 2 cores with 8 workers``, ``one copy of the target on each of 2 cores``."""
    if scaling is Scaling.SINGLE:
        return "target on one core"
    if not target_cores:  # published results don't include the number of cores
        return "target on an unknown number of cores"
    cores = plural(target_cores, "core")
    if scaling is Scaling.MULTI:
        return f"target on {cores}" + (f" with {plural(workers, 'worker')}" if workers else "")
    return f"{plural(workers, 'copy', 'copies')} of the target on {cores}" if workers else f"one copy of the target on each of {cores}"


def setup(group: Group) -> str:
    """Return the workload, cores and load generator of a table as text. Several tables may have the same text."""
    return f"{group.workload} · {scaling_words(group.scaling, group.target_cores, group.workers)} · {group.load_generator}"


def load_label(group: Group) -> str:
    """Return a label for a load that is short enough for the legend of a chart: ``64 connections, 4 in flight``."""
    load = group.load
    rate = "" if load.rate_rps is None else f"{load.rate_rps:,.0f}/s"
    if load.share_of_peak is not None:
        rate = f"{load.share_of_peak:.0%} of own peak"
    rising = f"{load.rate_from_rps:,.0f} to {rate}" if load.rate_from_rps else rate
    return ", ".join(filter(None, [_fault_label(load), *_connections(load, "in flight", "no keep-alive", "requests each"), rising]))


def short_place(group: Group) -> str:
    """Return the shortest name for a table: its workload and load."""
    return group.workload if group.client_work is not None else f"{group.workload}, {load_label(group)}"


def _title(group: Group) -> Iterator[str]:
    load = group.load
    rate = f"offered {load.rate_rps:,.0f} requests/s{_spacing(load)}" if load.rate_rps is not None and load.rate_from_rps is None else ""
    if load.share_of_peak is not None:
        rate = f"offered {load.share_of_peak:.0%} of each target's own peak{_spacing(load)}"
    unit = "streams" if load.http2 else "requests"
    parts = (
        group.workload,
        "start-up" if load.is_of_startup else "",
        _fault(load),
        scaling_words(group.scaling, group.target_cores, group.workers),
        *_connections(load, f"{unit} in flight per connection", _without_keepalive(load), "requests per connection"),
        rate,
        f"{load.duration_s:g} s" if load.rate_from_rps is None else _rising(load),
        f"by {group.load_generator}" if group.several_generators else "",
        f"scale {group.scale:g} (rates and times of the suite)" if group.scale != 1 else "",
        f"load from {_origin(group.load_origin)}" if group.load_origin is not None else "",
        "shared cores" if group.cores_shared else "",
        "backend and load generator share cores" if group.backend_shared and not group.cores_shared else "",
        "database and load generator share cores" if group.database_shared and not group.cores_shared else "",
    )
    return filter(None, parts)


def _fault(load: Load) -> str:
    """Describe how one of two backends fails: ``one of two backends stalls for 8 s``. Empty if none does."""
    if load.fault is None or load.fault_s is None:
        return ""
    return f"one of two backends {'stalls' if load.fault is Fault.STALL else 'is dead'} for {load.fault_s:g} s"


def _fault_label(load: Load) -> str:
    """Return the shortest description of how a backend fails: ``stall of a backend``. Empty if none does."""
    return f"{load.fault} of a backend" if load.fault is not None else ""


def protocol(load: Load) -> str:
    """Return the protocol of a load: ``HTTPS``, ``HTTP/2 over TLS`` or ``HTTP/2 without TLS``. Empty for HTTP/1.1 without TLS."""
    if load.http2:
        return f"HTTP/2 {'over' if load.tls else 'without'} TLS"
    return "HTTPS" if load.tls else ""


def _connections(load: Load, in_flight: str, without_keepalive: str, each: str) -> Iterator[str]:
    parts = (
        protocol(load),
        plural(load.connections, "connection"),
        f"{load.pipeline} {in_flight}" if load.pipeline > 1 else "",
        "" if load.keepalive else without_keepalive,
        f"{load.requests_per_connection} {each}" if load.requests_per_connection else "",
    )
    return filter(None, parts)


def _without_keepalive(load: Load) -> str:
    if load.tls:
        return f"a new connection and {'a resumed session' if load.tls_resumption else 'a full handshake'} for each request"
    return "a new connection for each request"


def _rising(load: Load) -> str:
    """Describe a changing rate: ``offered 2,000 to 5,000 requests/s, 200 more every 12 s, the last for 12 s``."""
    first, last = load.levels[0], load.levels[-1]
    rise = f"{load.rate_step_rps:,.0f} {'more' if last.rate_rps > first.rate_rps else 'fewer'} every {load.step_s:g} s"
    offered = f"offered {first.rate_rps:,.0f} to {last.rate_rps:,.0f} requests/s{_spacing(load)}"
    return f"{offered}, {rise}, the last for {last.duration_s:g} s"


def _spacing(load: Load) -> str:
    return " with Poisson arrivals" if load.arrivals is Arrivals.POISSON else ""


def _warmup(group: Group) -> str:
    load, rate = group.load, " at half of the peak" if group.load.is_overload else ""
    if load.warmup_max_s is None:
        return f"warm-up {load.warmup_s:g} s"
    least_s = STEADY_S_MIN if group.slices else load.warmup_s + STEADY_S_MIN
    if least_s >= load.warmup_max_s:
        return f"warm-up {least_s:g} s{rate}"
    return f"warm-up{rate} until steady, {least_s:g} to {load.warmup_max_s:g} s"


def _origin(origin: LoadOrigin) -> str:
    """Return the machines that sent the load: ``load1 with 4 cores`` or ``3 load hosts (slowest: load2, lag p99 0.20 ms)``."""
    if origin.name is not None:
        return f"{origin.name} with {plural(origin.cores, 'core')}" + (f", backend on {origin.name}" if origin.has_backend else "")
    lag = f" (slowest: {origin.slowest}, lag p99 {origin.lag_us / 1000:.2f} ms)" if origin.slowest else ""
    return plural(origin.hosts, "load host") + lag


def _client_title(group: Group, work: ClientWork) -> Iterator[str]:
    """Yield the parts of a title: ``client-large``, ``100 requests for 1,000,000 bytes each, one after the other``, ``one connection``."""
    yield group.workload
    yield f"{plural(work.requests, 'request')} for {plural(work.body_bytes, 'byte')} each, one after the other"
    yield "a new connection for each" if work.reconnect else "one connection"
    if group.cores_shared:
        yield "shared cores"
