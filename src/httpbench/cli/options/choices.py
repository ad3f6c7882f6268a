"""Values that options accept. They are repeated here to keep help fast to import; a test checks that they are complete."""

from __future__ import annotations

KINDS = ("server", "client", "proxy")
CATEGORIES = ("micro", "platform", "fullstack")
PLACES = ("process", "docker", "podman")
NETWORKS = ("host", "bridge")

LOAD_GENERATORS = ("native", "wrk", "hey", "autocannon", "perf-gauge")
ARRIVALS = ("constant", "poisson")
TIMERS = ("native", "hyperfine")
INTERLEAVES = ("auto", "slices", "rounds")

FORMATS = ("json", "csv", "markdown", "html", "autocannon", "junit", "openmetrics", "hyperfine")
"""Formats of `report --format`."""

LATENCIES = ("mean", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max")
"""Latencies that a service level can bound."""

GATES = ("rps", "mean", "p50", "p90", "p95", "p99", "p99.9", "cpu", "memory", "time")
"""Results that a gate can bound."""

HISTORY = ("rps", "p99", "time")
"""Results that `history` follows."""

JOURNAL = "/var/lib/httpbench/tune.json"
