"""Names that options accept and help shows, so that help imports nothing that they name. A test checks that the lists are complete."""

from __future__ import annotations

KINDS = ("server", "client", "proxy")
CATEGORIES = ("micro", "platform", "fullstack")
PLACES = ("process", "docker", "podman")
NETWORKS = ("host", "bridge")

LOAD_GENERATORS = ("native", "wrk", "hey", "autocannon", "perf-gauge")
TIMERS = ("native", "hyperfine")

FORMATS = ("json", "csv", "markdown", "html", "autocannon", "junit", "openmetrics", "hyperfine")
"""Forms of a run that `report --format` prints."""

LATENCIES = ("mean", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max")
"""Figures that a service level can bound."""

GATES = ("rps", "mean", "p50", "p90", "p95", "p99", "p99.9", "cpu", "memory", "time")
"""Figures that a gate can bound."""

HISTORY = ("rps", "p99", "time")
"""Figures that `history` follows."""

JOURNAL = "/var/lib/httpbench/tune.json"
