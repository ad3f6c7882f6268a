"""The compressed JSON export inside the page of a run, as a data URL that a browser saves to a file."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from typing import Any

from httpbench.model import Run, Trial
from httpbench.report.data.json import document

BYTES_MAX = 720_000
"""Maximum size of the compressed file in bytes. A larger export omits its histograms so that the page stays small enough for email."""

DIGITS = 7
"""Number of significant digits to which the export rounds numbers."""


def download(run: Run, trials: Sequence[Trial]) -> dict[str, Any]:
    """Compress the export, and return its name, size and data URL. The export contains the histograms of all rounds if they fit.

    Merged histograms are always omitted, because they can be computed from the histograms of the rounds.
    """
    whole = json.loads(document(run, trials).model_dump_json(by_alias=True))
    data = _compressed(_shortened(whole, drops_histograms=False))
    has_histograms = len(data) <= BYTES_MAX
    if not has_histograms:
        data = _compressed(_shortened(whole, drops_histograms=True))
    return {
        "name": f"httpbench-{run.id}.json.gz",
        "size": f"{len(data) / 1000:,.0f} kB",
        "address": f"data:application/gzip;base64,{base64.b64encode(data).decode()}",
        "has_histograms": has_histograms,
    }


def _compressed(found: Any) -> bytes:
    text = json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def _shortened(found: Any, *, drops_histograms: bool) -> Any:
    """Round numbers to ``DIGITS`` significant digits, and replace merged histograms (or all histograms) with null.

    More digits would only be noise and would compress badly.
    """
    if isinstance(found, float):
        return float(f"{found:.{DIGITS}g}")
    if isinstance(found, list):
        return [_shortened(each, drops_histograms=drops_histograms) for each in found]
    if not isinstance(found, dict):
        return found
    return {
        name: None if name == "histogram" and drops_histograms else _shortened(value, drops_histograms=drops_histograms or name == "merged")
        for name, value in found.items()
    }
