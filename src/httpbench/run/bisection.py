"""Carry out a search for the commit that made a server slower, so that an interrupted search can continue."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from httpbench.analysis.bisection import BisectionStep, answers, gate_for
from httpbench.errors import StoreError
from httpbench.model import Commit, Frozen, Gate
from httpbench.run.builds.build import read_kept
from httpbench.stats.bisection import LOOKS, LOOKS_WITHIN, next_commit


class KeptSteps(Frozen):
    """The measurements of a search that hasn't ended."""

    steps: tuple[BisectionStep, ...] = ()
    """All measurements, in order."""


@dataclass(frozen=True, slots=True)
class StepsFile:
    """The file with the measurements of one search, beside the results database."""

    path: Path

    @classmethod
    def of(cls, database: Path, *question: str) -> StepsFile:
        """Return the file for a question: everything that the answer depends on, such as the commits, the commands and the load."""
        digest = hashlib.sha256("\0".join(question).encode()).hexdigest()
        return cls(database.with_suffix(".bisect") / f"{digest[:16]}.json")

    def read(self) -> tuple[BisectionStep, ...]:
        """Return the measurements of an earlier search that was interrupted. Empty: there was none."""
        kept = read_kept(self.path, KeptSteps)
        return kept.steps if kept else ()

    def write(self, steps: Sequence[BisectionStep]) -> None:
        """Replace the file. Raise :class:`StoreError` if that fails."""
        new = self.path.with_suffix(".new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(KeptSteps(steps=tuple(steps)).model_dump_json(), encoding="utf-8")
            new.replace(self.path)
        except OSError as error:
            raise StoreError(f"cannot write the progress of the search to {self.path}: {error.strerror}") from None

    def remove(self) -> None:
        """Remove the file, because the search has ended."""
        self.path.unlink(missing_ok=True)


def search(
    gate: Gate, commits: Sequence[Commit], judge: Callable[[Commit, Gate, Sequence[int], int], BisectionStep], kept: StepsFile
) -> tuple[BisectionStep, ...]:
    """Measure commits until the search has ended, and return all measurements.

    Args:
        gate: Gate that the last commit must breach.
        commits: The commits to search, oldest first. The last one is said to be bad.
        judge: Function that measures a commit against the good one, until its interval decides a gate. The sequence contains the numbers of
            rounds after which it looks at the interval. The last argument is the number of earlier measurements.
        kept: File to which each measurement is written, and from which an earlier search continues.
    """
    steps = list(kept.read())
    while (place := next_commit(len(commits), answers(gate, commits, steps))) is not None:
        commit, newest = commits[place], commits[-1]
        looks = LOOKS if commit is newest else LOOKS_WITHIN
        steps.append(judge(commit, gate_for(gate, newest, steps, commit.id), looks, len(steps)))
        kept.write(steps)
    return tuple(steps)
