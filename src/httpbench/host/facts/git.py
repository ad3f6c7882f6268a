"""The commit of a folder, and the commits between two runs if the repository is still on this machine."""

from __future__ import annotations

import re
from pathlib import Path

from httpbench.host.commands import capture

COMMITS_MAX = 10
COMMIT = re.compile(r"([0-9a-f]{7,64})(?:\+changes)?")


def git_commit(folder: Path) -> str | None:
    """Return the commit of a folder, with ``+changes`` if the folder has uncommitted changes.

    Return ``None`` if the folder isn't in a repository or if git ignores it (such as an installed package in a project's ``.venv``).
    """
    head = _git(folder, "rev-parse", "--verify", "HEAD")
    if head is None or _git(folder, "check-ignore", "--quiet", ".") is not None:
        return None
    changes = _git(folder, "status", "--porcelain", "--", ".")
    return None if changes is None else head.strip() + ("+changes" if changes else "")


def commits_between(folder: Path, before: str, after: str) -> list[str]:
    """Return the commits after ``before`` up to ``after``, newest first, each as a line with the short id and the subject.

    At most ``COMMITS_MAX`` commits are returned; if there are more, an extra line contains the command that lists them. The list is empty
    if both commits are the same, or if the folder, git or one of the commits is missing. ``+changes`` at the end of a commit is ignored.
    """
    matches = [COMMIT.fullmatch(name) for name in (before, after)]
    first, last = (match[1] if match else None for match in matches)
    if first is None or last is None or first == last:
        return []
    options = ("--no-decorate", "--no-color", "--format=%h %s", f"--max-count={COMMITS_MAX + 1}")
    lines = (_git(folder, "log", *options, f"{first}..{last}", "--") or "").splitlines()
    more = f"… and more: git log {first[:12]}..{last[:12]}"
    return lines if len(lines) <= COMMITS_MAX else [*lines[:COMMITS_MAX], more]


def _git(folder: Path, *words: str) -> str | None:
    """Return the output of a git command, or ``None`` if it fails."""
    found = capture(("git", "-C", str(folder), *words))
    return found.stdout if found is not None and found.returncode == 0 else None
