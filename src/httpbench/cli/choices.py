"""Names that options accept and help shows, known without importing what they name; a test holds that they are the same."""

from __future__ import annotations

KINDS = ("server", "client", "proxy")
CATEGORIES = ("micro", "platform", "fullstack")

LOAD_GENERATORS = ("native", "wrk", "hey", "perf-gauge")
TIMERS = ("native", "hyperfine")

LATENCIES = ("mean", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max")
"""What a service level can bound."""

GATES = ("rps", "mean", "p50", "p90", "p95", "p99", "p99.9", "cpu", "memory", "time")
"""What a gate can be set on."""

JOURNAL = "/var/lib/httpbench/tune.json"
