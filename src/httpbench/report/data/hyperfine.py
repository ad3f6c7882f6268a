"""Clients in the format of hyperfine's JSON export, for hyperfine's plotting scripts.

There is one result per row, and times are in seconds. Rows without results are omitted. If a run has several tables, the
workload is appended to each command.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Row
from httpbench.errors import UsageError
from httpbench.model import Run, Trial


def render_hyperfine(run: Run, trials: Sequence[Trial]) -> str:
    """Render the clients of a run. Raise :class:`UsageError` for a run without clients."""
    found = groups(run, trials)
    if not any(group.client_work for group in found):
        raise UsageError(f"run {run.id} has no clients; hyperfine's format requires clients")
    results = [_result(row, group.workload if len(found) > 1 else None) for group in found for row in group.rows if row.summary.client]
    return json.dumps({"results": results}, indent=2, ensure_ascii=False) + "\n"


def _result(row: Row, workload: str | None) -> dict[str, Any]:
    client = row.summary.client
    assert client is not None, "rows without figures are left out"
    peaks = [trial.client.whole.rss_bytes_peak for trial in row.trials if trial.client and trial.verdict.counts]
    return {
        "command": " ".join(filter(None, (row.target.id.removeprefix("client:"), workload))),
        **{name: getattr(client, f"{name}_s") for name in ("mean", "stddev", "median", "user", "system", "min", "max")},
        "times": client.times_s,
        "memory_usage_byte": peaks if None not in peaks else None,
        "exit_codes": [0] * len(client.times_s),
    }
