"""Addresses of pages, relative to the dashboard. They also serve as file names, so links are the same in a static copy."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import quote

RUNS = "index.html"
TARGETS = "targets.html"
EXPLORER = "explorer.html"
COMPARE = "compare"
"""Address to which the list of runs submits its form. It redirects to the page that compares the two chosen runs."""
SCRIPT = "live.js"

NAME_MAX = 60
"""Maximum number of characters of a target's id that its page name contains."""


def page_of_runs(number: int) -> str:
    """Return the address of a page of the list of runs. Pages are numbered from 1."""
    return RUNS if number == 1 else f"runs-{number}.html"


def run(run_id: str) -> str:
    """Return the address of the page of a run."""
    return f"runs/{quote(run_id, safe='')}.html"


def run_table(run_id: str, number: int) -> str:
    """Return the address of a table of a large run. Tables are numbered from 1."""
    return f"runs/{quote(run_id, safe='')}/table-{number}.html"


def report(run_id: str) -> str:
    """Return the address of the report of a run."""
    return f"runs/{quote(run_id, safe='')}/report.html"


def run_chart(run_id: str, name: str, table: int | None = None) -> str:
    """Return the address of a chart of a run, or of a table of a large run."""
    folder = f"runs/{quote(run_id, safe='')}"
    return f"{folder}/{name}.svg" if table is None else f"{folder}/table-{table}/{name}.svg"


def events(run_id: str) -> str:
    """Return the address of the event stream of a run."""
    return f"runs/{quote(run_id, safe='')}/events"


def comparison(base: str, head: str) -> str:
    """Return the address of the page that compares two runs."""
    return f"compare/{quote(base, safe='')}/{quote(head, safe='')}.html"


def comparison_chart(base: str, head: str, figure: str) -> str:
    """Return the address of a chart that compares two runs."""
    return f"compare/{quote(base, safe='')}/{quote(head, safe='')}/{figure}.svg"


def target(target_id: str) -> str:
    """Return the address of the page of a target."""
    return f"targets/{target_name(target_id)}.html"


def target_chart(target_id: str, number: int) -> str:
    """Return the address of a chart of a target."""
    return f"targets/{target_name(target_id)}/{number}.svg"


def target_name(target_id: str) -> str:
    """Return a unique and safe path segment for a target's id, which can contain any character."""
    words = re.sub(r"[^a-z0-9.]+", "-", target_id.lower()).strip("-.")[:NAME_MAX]
    return f"{words}-{hashlib.sha256(target_id.encode(errors='surrogatepass')).hexdigest()[:8]}".lstrip("-")


def root(path: str) -> str:
    """Return the relative address of the dashboard: ``../`` for each folder in the path."""
    return "../" * path.count("/")
