"""Tests of a search that is interrupted and continues."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.analysis.bisection import BisectionStep
from httpbench.errors import StoreError
from httpbench.model import Commit, Gate
from httpbench.run import StepsFile, search
from httpbench.stats.bisection import Answer
from tests.factories import make_commit

COMMITS = [make_commit(number) for number in range(1, 17)]
FIRST_BAD = 11
GATE = Gate(figure="rps", side="<", change=-0.03)


class Judge:
    """Measures commits correctly, and is interrupted after a number of measurements."""

    def __init__(self, measurements: int):
        self.left = measurements
        self.asked: list[Commit] = []

    def __call__(self, commit: Commit, gate: Gate, looks: Sequence[int], number: int) -> BisectionStep:
        if len(self.asked) == self.left:
            raise KeyboardInterrupt
        self.asked.append(commit)
        return BisectionStep(commit=commit.id, answer=Answer.BAD if COMMITS.index(commit) >= FIRST_BAD else Answer.GOOD)


def test_an_interrupted_search_measures_nothing_twice(tmp_path: Path) -> None:
    whole = search(GATE, COMMITS, Judge(100), StepsFile.of(tmp_path / "whole.db"))
    for interrupted_after in range(len(whole)):
        kept = StepsFile.of(tmp_path / f"{interrupted_after}.db")
        with pytest.raises(KeyboardInterrupt):
            search(GATE, COMMITS, Judge(interrupted_after), kept)
        assert len(kept.read()) == interrupted_after
        rest = Judge(100)
        assert search(GATE, COMMITS, rest, kept) == whole
        assert len(rest.asked) == len(whole) - interrupted_after


@given(st.lists(st.text(max_size=5), max_size=3), st.lists(st.text(max_size=5), max_size=3))
def test_another_question_has_another_file(one: list[str], other: list[str]) -> None:
    paths = [StepsFile.of(Path("results.db"), *words).path for words in (one, other)]
    assert (paths[0] == paths[1]) == ("\0".join(one) == "\0".join(other))


def test_a_file_of_another_version_is_ignored(tmp_path: Path) -> None:
    kept = StepsFile.of(tmp_path / "results.db", "question")
    kept.path.parent.mkdir()
    kept.path.write_text('{"steps": [], "later": 1}')
    assert kept.read() == ()
    kept.remove()
    kept.remove()


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "results.bisect").write_text("a file")
    with pytest.raises(StoreError, match="cannot write the progress of the search"):
        search(GATE, COMMITS, Judge(1), StepsFile.of(tmp_path / "results.db"))
