"""A git repository: its commits, and worktrees in which they can be built."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from httpbench.errors import BuildError, UsageError
from httpbench.host.commands import PRINTED_BYTES_MAX
from httpbench.host.facts.git import git
from httpbench.model import Commit
from httpbench.model.frozen import Time

FIELDS = ("%H", "%T", "%an <%ae>", "%aI", "%s")
SEPARATOR = "%x00"
LIMIT_S = 60.0
CHECKOUT_LIMIT_S = 600.0


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository on this machine."""

    root: Path
    """Topmost folder of the work tree."""
    common: Path
    """Folder with the data that all worktrees share, such as ``.git``."""

    @classmethod
    def around(cls, folder: Path) -> Repository:
        """Return the repository that contains a folder. Raise :class:`UsageError` if there is none, or if git is missing."""
        found = git(folder, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", limit_s=LIMIT_S)
        if found is None:
            raise UsageError("git is missing, or doesn't respond", hint="install git")
        lines = found.stdout.split("\n")[:-1]
        if found.returncode != 0 or len(lines) != 2:
            reason = _reason(found)
            raise UsageError(
                f"{folder.resolve()} is not in the work tree of a git repository{reason}", hint="change to the repository, or use --cwd"
            )
        return cls(Path(lines[0]), Path(lines[1]))

    def commit(self, revision: str) -> Commit:
        """Return the commit that a revision such as ``v1.0`` or ``HEAD~3`` names. Raise :class:`UsageError` if there is none."""
        found = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if found.returncode != 0:
            raise UsageError(f"{self.root} has no commit {revision}", hint="`git log` lists the commits")
        return self._log("--max-count=1", found.stdout.strip())[0]

    def commits(self, good: Commit, bad: Commit) -> list[Commit]:
        """Return the commits after ``good`` up to ``bad``, oldest first, along the first parents of ``bad``.

        Merged branches therefore count as one commit. Commits that lack ``good``, and commits with the same files as their predecessor, are
        left out. Raise :class:`UsageError` if ``good`` isn't an ancestor of ``bad``.
        """
        if self._git("merge-base", "--is-ancestor", good.id, bad.id).returncode != 0:
            hint = "name the commits in the order GOOD BAD"
            if self._git("rev-parse", "--is-shallow-repository").stdout.strip() == "true":
                hint = "this clone has no complete history: run `git fetch --unshallow`"
            elif self._git("merge-base", "--is-ancestor", bad.id, good.id).returncode != 0:
                hint = f"use their common ancestor: $(git merge-base {good.short} {bad.short})"
            raise UsageError(f"{good.short} is not an ancestor of {bad.short}", hint=hint)
        descendants = set(self._git("rev-list", "--ancestry-path", f"{good.id}..{bad.id}").stdout.split())
        line = [each for each in self._log("--reverse", "--first-parent", f"{good.id}..{bad.id}") if each.id in descendants]
        found = [commit for before, commit in pairwise([good, *line]) if commit.tree != before.tree]
        if not found or good.tree == bad.tree:
            raise UsageError(f"{good.short} and {bad.short} have the same files", hint="name two different commits")
        return found

    def check_out(self, commit: Commit, folder: Path) -> None:
        """Create a worktree of a commit. Raise :class:`BuildError` if that fails.

        The repository's filters run, and it may fetch what is missing. The commit is going to be built, which runs its programs, too.
        """
        words = ("worktree", "add", "--quiet", "--force", "--detach", str(folder), commit.id)
        done = self._git(*words, limit_s=CHECKOUT_LIMIT_S, trusted=True)
        if done.returncode != 0:
            raise BuildError(f"{commit.short} cannot be checked out into {folder}{_reason(done)}")

    def remove(self, folder: Path) -> None:
        """Remove a worktree, if it exists."""
        self._git("worktree", "remove", "--force", "--force", str(folder))

    def _log(self, *words: str) -> list[Commit]:
        options = ("--no-show-signature", "--no-color", "--encoding=UTF-8", f"--format={SEPARATOR.join(FIELDS)}")
        lines = self._git("log", *options, *words, "--").stdout.split("\n")[:-1]
        fields = (line.split("\0") for line in lines)
        return [Commit(id=own[0], tree=own[1], author=own[2], date=_valid_time(own[3]), subject=own[4]) for own in fields]

    def _git(self, *words: str, limit_s: float = LIMIT_S, trusted: bool = False) -> subprocess.CompletedProcess[str]:
        found = git(self.root, *words, limit_s=limit_s, trusted=trusted)
        if found is None:
            limits = f"did not respond within {limit_s:g} s, or printed more than {PRINTED_BYTES_MAX >> 20} MiB"
            raise UsageError(f"git {limits}: git -C {self.root} {' '.join(words)}")
        return found


def _valid_time(text: str) -> str | None:
    """Return the time of a commit, or ``None`` if it isn't one: git takes any year and time zone from whoever wrote the commit."""
    with suppress(ValidationError):
        return TypeAdapter(Time).validate_python(text)
    return None


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """Return the last line that git printed, as an addition to an error: ``: fatal: not a git repository``."""
    lines = done.stderr.strip().splitlines()
    return f": {lines[-1]}" if lines else ""
