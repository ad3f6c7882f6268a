"""OpenMetrics text for Prometheus: a gauge for each metric of each row.

The text uses only features that OpenMetrics shares with the older Prometheus format (gauges and summaries without timestamps), so
node_exporter's textfile collector and a Pushgateway can read it. Values are medians over rounds. A row without results has
only its verdict and its numbers of rounds.

Source: OpenMetrics 1.0; https://prometheus.io/docs/instrumenting/exposition_formats.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from httpbench.analysis.gates import RunGate, gated
from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Row
from httpbench.model import BETWEEN_EVENTS, FIRST_BYTE, Run, Trial
from httpbench.report.words.gates import gate_place
from httpbench.report.words.loads import title
from httpbench.stats.level import saturation
from httpbench.stats.summary import Estimate, Summary
from httpbench.text import one_line

Labels = Mapping[str, str]
Sample = tuple[Labels, float]

QUANTILES = {"p50": "0.5", "p75": "0.75", "p90": "0.9", "p95": "0.95", "p99": "0.99", "p99_9": "0.999", "p99_99": "0.9999"}


@dataclass(frozen=True, slots=True)
class Family:
    """All samples of one metric."""

    name: str
    meaning: str
    kind: Literal["gauge", "summary"] = "gauge"
    unit: str | None = None
    """Unit at the end of the name, or ``None`` if there is none."""
    samples: Sequence[Sample] = ()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the exposition format."""
        yield f"# TYPE {self.name} {self.kind}"
        if self.unit:
            yield f"# UNIT {self.name} {self.unit}"
        yield f"# HELP {self.name} {self.meaning}"
        for labels, value in self.samples:
            pairs = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
            yield f"{self.name}{{{pairs}}} {value!r}" if pairs else f"{self.name} {value!r}"


def render_openmetrics(run: Run, trials: Sequence[Trial]) -> str:
    """Render a run. The text ends with ``# EOF`` and a line break."""
    rows = [] if run.search else list(_rows(run, trials))
    families = [*_of_run(run), *_of_rows(rows), *_times(rows), *_of_search(run, trials), *_of_gates(gated(run, trials))]
    lines = [line for family in families if family.samples for line in family.lines()]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _rows(run: Run, trials: Sequence[Trial]) -> Iterator[tuple[Labels, Row]]:
    """Yield each row with a unique set of labels."""
    seen: dict[tuple[str, str], int] = {}
    for group in groups(run, trials):
        for row in group.rows:
            place = (row.target.id, title(group))
            seen[place] = seen.get(place, 0) + 1
            load = place[1] if seen[place] == 1 else f"{place[1]} ({seen[place]})"
            yield {**_cell_labels(row.summary), "load": load}, row


def _cell_labels(summary: Summary) -> dict[str, str]:
    labels = {"target": summary.target, "workload": summary.workload, "scaling": summary.scaling, "generator": summary.load_generator}
    return {**labels, "connections": str(summary.load.connections)}


def _of_run(run: Run) -> Iterator[Family]:
    environment = run.environment
    about = {
        "run": run.id,
        "name": run.name or "",
        "status": run.status,
        "hostname": environment.hostname,
        "git_commit": environment.git_commit or "",
        "version": environment.httpbench_version,
    }
    yield Family("httpbench_run_info", "The run: always 1.", samples=[(about, 1.0)])
    started = datetime.datetime.fromisoformat(run.started_at).timestamp()
    yield Family("httpbench_run_start_time_seconds", "Start of the run, since the epoch.", unit="seconds", samples=[({}, started)])


def _of_rows(rows: Sequence[tuple[Labels, Row]]) -> Iterator[Family]:
    for name, meaning, figure in FIGURES:
        samples = [(labels, value) for labels, row in rows if (value := figure(row)) is not None]
        unit = next((unit for unit in ("seconds", "bytes") if name.endswith(f"_{unit}")), None)
        yield Family(f"httpbench_{name}", meaning, unit=unit, samples=samples)
    verdicts = [({**labels, "verdict": row.summary.verdict.kind}, 1.0) for labels, row in rows]
    yield Family("httpbench_verdict_info", "What limited the row, or why it has no results: always 1.", samples=verdicts)
    ends = [
        ({**labels, "bound": end}, getattr(estimate.interval, end))
        for labels, row in rows
        if (estimate := row.summary.throughput_rps) and estimate.interval and not row.has_events
        for end in ("low", "high")
    ]
    meaning = "Ends of the 95% interval of correct responses per second."
    yield Family("httpbench_requests_per_second_interval", meaning, samples=ends)


def _times(rows: Sequence[tuple[Labels, Row]]) -> Iterator[Family]:
    """Yield the quantiles of latencies. Sum and count are left out, because they are known only for single rounds."""
    for name, prefix, meaning in (
        ("latency", "", "Response time where the load has a rate, service time otherwise; of event streams, time to the first event."),
        ("first_byte", FIRST_BYTE, "Time to the first byte, from the intended send where the load has a rate."),
        ("between_events", BETWEEN_EVENTS, "Time between successive events of a stream."),
    ):
        yield Family(f"httpbench_{name}_seconds", meaning, "summary", "seconds", _quantiles(rows, prefix))


def _quantiles(rows: Sequence[tuple[Labels, Row]], prefix: str) -> list[Sample]:
    return [
        ({**labels, "quantile": quantile}, estimate.median / 1e6)
        for labels, row in rows
        for name, quantile in QUANTILES.items()
        if (estimate := row.latency_estimate(f"{prefix}{name}")) is not None
    ]


def _of_search(run: Run, trials: Sequence[Trial]) -> Iterator[Family]:
    rate = saturation(run.search, trials).rate_rps if run.search and trials else None
    if rate is not None:
        labels = {"target": trials[0].plan.target, "workload": trials[0].plan.workload, "scaling": trials[0].plan.scaling}
        yield Family(
            "httpbench_saturation_requests_per_second", "Highest rate that meets the service level objective.", samples=[(labels, rate)]
        )


def _of_gates(judged: Sequence[RunGate]) -> Iterator[Family]:
    once = {(str(each.gate), each.row.target.id if each.row else "", gate_place(each)): each for each in judged}
    named = [(dict(zip(("gate", "target", "place"), labels, strict=True)), each) for labels, each in once.items()]
    ends = [({**labels, "passage": each.passage}, 1.0) for labels, each in named]
    yield Family("httpbench_gate_info", "Result of the gate: always 1.", samples=ends)
    ratios = [(labels, each.ratio) for labels, each in named if each.ratio is not None]
    yield Family("httpbench_gate_ratio", "Value of the target divided by that of the baseline.", samples=ratios)


def _median(read: Callable[[Row], Estimate | None], factor: float = 1.0) -> Callable[[Row], float | None]:
    """Return a function that reads the median of a metric."""

    def figure(row: Row) -> float | None:
        estimate = read(row)
        return None if estimate is None else estimate.median * factor

    return figure


def _time(name: str) -> Callable[[Row], float | None]:
    """Return a function that reads the median of a latency in seconds."""

    def figure(row: Row) -> float | None:
        estimate: Estimate | None = getattr(row.latency, name, None)
        return None if estimate is None else estimate.median / 1e6

    return figure


FIGURES: tuple[tuple[str, str, Callable[[Row], float | None]], ...] = (
    ("requests_per_second", "Correct responses per second.", _median(lambda row: None if row.has_events else row.summary.throughput_rps)),
    ("events_per_second", "Events per second.", _median(lambda row: row.summary.throughput_rps if row.has_events else None)),
    ("events_lost", "Lost events of one round.", _median(lambda row: row.summary.events_lost)),
    ("latency_mean_seconds", "Mean latency.", _time("mean")),
    ("latency_max_seconds", "Highest latency.", _time("max")),
    ("failed_requests", "Requests of one round without a correct response.", _median(lambda row: row.summary.errors)),
    ("target_cpu_cores", "CPU use of the target, in cores.", _median(lambda row: row.summary.cpu_cores)),
    ("target_cpu_per_request_seconds", "CPU time of the target per response.", _median(lambda row: row.summary.cpu_us_per_request, 1e-6)),
    (
        "target_memory_peak_bytes",
        "Peak memory of the target.",
        _median(lambda row: row.summary.pss_bytes_peak or row.summary.rss_bytes_peak),
    ),
    ("startup_ready_seconds", "Time from the execution of a server to its first response.", _median(lambda row: row.summary.ready_s)),
    ("startup_first_request_seconds", "Service time of a server's first request.", _median(lambda row: row.summary.first_us, 1e-6)),
    ("startup_steady_seconds", "Time under load until throughput is steady.", _median(lambda row: row.summary.steady_s)),
    (
        "startup_memory_bytes",
        "Memory of a server after its first response.",
        _median(lambda row: row.summary.pss_bytes_ready or row.summary.rss_bytes_ready),
    ),
    ("client_time_seconds", "Median wall time of a client.", lambda row: row.summary.client.median_s if row.summary.client else None),
    ("rounds", "Rounds that ran.", lambda row: float(row.summary.rounds)),
    ("rounds_counting", "Rounds that count.", lambda row: float(row.summary.rounds_counting)),
)
"""Name, description and value of each gauge of a row."""


def _escaped(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')
