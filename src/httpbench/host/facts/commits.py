"""The commits between two runs, if the repository is still here."""

from __future__ import annotations

import re
from pathlib import Path

from httpbench.host.commands import capture

COMMITS_MAX = 10
COMMIT = re.compile(r"([0-9a-f]{7,64})(?:\+changes)?")


def commits_between(folder: Path, before: str, after: str) -> list[str]:
    """Return the commits after ``before`` up to ``after``, newest first, each as a line with the short id and the subject.

    At most ``COMMITS_MAX`` commits are returned; if there are more, an extra line says so. The list is empty if both commits are the same,
    or if the folder, git or one of the commits is missing. ``+changes`` at the end of a commit is ignored.
    """
    matches = [COMMIT.fullmatch(name) for name in (before, after)]
    first, last = (match[1] if match else None for match in matches)
    if first is None or last is None or first == last:
        return []
    options = ("--no-decorate", "--no-color", "--format=%h %s", f"--max-count={COMMITS_MAX + 1}")
    found = capture(("git", "-C", str(folder), "log", *options, f"{first}..{last}", "--"))
    if found is None or found.code != 0:
        return []
    lines = found.stdout.splitlines()
    more = f"… and more: git log {first[:12]}..{last[:12]}"
    return lines if len(lines) <= COMMITS_MAX else [*lines[:COMMITS_MAX], more]
