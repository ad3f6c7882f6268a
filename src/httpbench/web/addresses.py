"""Addresses of pages, as paths below the dashboard's own address. Each is the name of a file too, so a static copy has the same links."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import quote

RUNS = "index.html"
TARGETS = "targets.html"
COMPARE = "compare"
"""Where the form of the list leads; it is redirected to the page of two runs."""
SCRIPT = "live.js"

NAME_MAX = 60
"""Characters of a target's id in the name of its page."""


def page_of_runs(number: int) -> str:
    """The pages of the list, from 1."""
    return RUNS if number == 1 else f"runs-{number}.html"


def run(run_id: str) -> str:
    return f"runs/{quote(run_id, safe='')}.html"


def report(run_id: str) -> str:
    return f"runs/{quote(run_id, safe='')}/report.html"


def run_chart(run_id: str, name: str) -> str:
    return f"runs/{quote(run_id, safe='')}/{name}.svg"


def events(run_id: str) -> str:
    return f"runs/{quote(run_id, safe='')}/events"


def comparison(base: str, head: str) -> str:
    return f"compare/{quote(base, safe='')}/{quote(head, safe='')}.html"


def comparison_chart(base: str, head: str, figure: str) -> str:
    return f"compare/{quote(base, safe='')}/{quote(head, safe='')}/{figure}.svg"


def target(target_id: str) -> str:
    return f"targets/{target_name(target_id)}.html"


def target_chart(target_id: str, number: int) -> str:
    return f"targets/{target_name(target_id)}/{number}.svg"


def target_name(target_id: str) -> str:
    """A part of a path that is no other target's: an id may hold anything."""
    words = re.sub(r"[^a-z0-9.]+", "-", target_id.lower()).strip("-.")[:NAME_MAX]
    return f"{words}-{hashlib.sha256(target_id.encode(errors='surrogatepass')).hexdigest()[:8]}".lstrip("-")


def root(path: str) -> str:
    """How a page refers to the dashboard's own address: ``../`` for each folder that it is in."""
    return "../" * path.count("/")
