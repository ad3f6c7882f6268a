"""Git commands that run nothing but git, the commit of a folder, and the commits between two runs.

A repository can name programs that git runs while it reads: to find changed files, to convert files, to check signatures, and to fetch what
is missing. The folder of a target can be in a stranger's repository.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from httpbench.host.commands import capture

COMMITS_MAX = 10
COMMIT = re.compile(r"([0-9a-f]{7,64})(?:\+changes)?")
LIMIT_S = 2.0
"""Time limit of a command that reads commits or settings. A repository's settings can include a pipe, which git then waits for."""
STATUS_LIMIT_S = 10.0
"""Time limit of ``git status``, which reads a work tree of any size."""
SUBJECT_MAX = 200
"""Maximum number of columns of a commit's subject."""

_stalled = set[Path]()
"""Folders where git took too long. A further command would take as long."""

NO_HOOKS = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
RUNS_NOTHING = (
    *NO_HOOKS,
    *("-c", "log.showSignature=false"),
    *("-c", "log.mailmap=false"),  # whose file may be a pipe
    *("-c", "safe.bareRepository=explicit"),  # a bare repository can hide in a folder of another one
    *("-c", "protocol.allow=never"),
)
NO_LOCKS = {"GIT_OPTIONAL_LOCKS": "0"}
NO_FETCH = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
"""A repository's settings for single protocols take precedence over ``protocol.allow``, but not over these variables."""
FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"


def git(folder: Path, *words: str, limit_s: float = LIMIT_S, trusted: bool = False) -> subprocess.CompletedProcess[str] | None:
    """Run a git command in a folder. Return ``None`` if git is missing, takes longer than ``limit_s`` seconds or prints too much.

    The repository's hooks never run. ``trusted``: it may filter files and fetch what is missing, because the user builds its commits.
    Commands that read files of the work tree also need :func:`_no_filters`.
    """
    options, env = (NO_HOOKS, NO_LOCKS) if trusted else (RUNS_NOTHING, NO_LOCKS | NO_FETCH)
    return capture(("git", "--no-pager", *options, "-C", str(folder), *words), limit_s, env)


def git_commit(folder: Path) -> str | None:
    """Return the commit of a folder, with ``+changes`` if the folder has uncommitted changes.

    Return ``None`` if the folder isn't in a repository or if git ignores it (such as an installed package in a project's ``.venv``). Files
    inside submodules aren't compared.
    """
    head = _output(folder, "rev-parse", "--verify", "HEAD")
    if head is None or _output(folder, "check-ignore", "--quiet", ".") is not None or (no_filters := _no_filters(folder)) is None:
        return None
    words = (*no_filters, "status", "--porcelain", "--ignore-submodules=dirty", "--", ".")
    changes = _output(folder, *words, limit_s=STATUS_LIMIT_S)
    return None if changes is None else head.strip() + ("+changes" if changes else "")


def commits_between(before: str, after: str) -> list[str]:
    """Return the commits after ``before`` up to ``after``, newest first, each as a line with the short id and the subject.

    They come from the repository of the working directory, never from a folder that a store names. At most ``COMMITS_MAX`` commits are
    returned; if there are more, an extra line contains the command that lists them. The list is empty if both commits are the same, or if
    git, the repository or one of the commits is missing. ``+changes`` at the end of a commit is ignored.
    """
    matches = [COMMIT.fullmatch(name) for name in (before, after)]
    first, last = (match[1] if match else None for match in matches)
    if first is None or last is None or first == last:
        return []
    form = f"--format=%h %<({SUBJECT_MAX},trunc)%s"
    options = ("--no-decorate", "--no-color", "--no-show-signature", form, f"--max-count={COMMITS_MAX + 1}")
    printed = _output(Path.cwd(), "log", *options, f"{first}..{last}", "--") or ""
    lines = [line.rstrip() for line in printed.splitlines()]  # git fills the column with spaces
    more = f"… and more: git log {first[:12]}..{last[:12]}"
    return lines if len(lines) <= COMMITS_MAX else [*lines[:COMMITS_MAX], more]


def _output(folder: Path, *words: str, limit_s: float = LIMIT_S) -> str | None:
    """Return the output of a git command, or ``None`` if it fails or if an earlier one in this folder took too long."""
    place = folder.absolute()
    if place in _stalled:
        return None
    found = git(folder, *words, limit_s=limit_s)
    if found is None:
        _stalled.add(place)
    return found.stdout if found is not None and found.returncode == 0 else None


def _no_filters(folder: Path) -> list[str] | None:
    """Return git's options that switch off each filter that the settings name, or ``None`` if a name makes that impossible."""
    keys = (_output(folder, "config", "--null", "--name-only", "--get-regexp", FILTERS) or "").split("\0")[:-1]
    if any("=" in key for key in keys):  # git takes what follows the first "=" as the value
        return None
    return [word for key in keys for word in ("-c", f"{key}=false" if key.endswith(".required") else f"{key}=")]
