"""Changes from one run to another as JSON in the schema ``httpbench-changes/1``, and their gates as JUnit XML."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PlainSerializer

from httpbench.analysis.changes import Cell, Changes, Side
from httpbench.model import Frozen, Gate, Reason
from httpbench.report.data.junit import GATES, JUnitSuite, document, gate_case
from httpbench.report.words.changes import mismatch_text, not_compared, version_text
from httpbench.report.words.gates import gate_place, gate_reason
from httpbench.report.words.reasons import sentence
from httpbench.stats.gates import Passage


class ExportedCell(Cell):
    """One target under one load in both runs, with its reasons as sentences."""

    reasons_head: Annotated[tuple[Reason, ...], PlainSerializer(lambda found: tuple(map(sentence, found)), return_type=tuple[str, ...])]
    """Reasons for the verdict of head's rounds, or why they don't count."""
    lost_head: Annotated[Reason | None, PlainSerializer(lambda lost: sentence(lost) if lost else None, return_type=str | None)] = None
    """Number of head's rounds that failed or are invalid, and why. Null: none."""


class ChangeGateResult(Frozen):
    """The result of a gate for one cell."""

    gate: Gate
    cell: int | None
    """Index in ``cells``. Null: only base has the cell."""
    place: str
    """Target, workload and load."""
    passage: Passage
    reason: str | None
    """Why the gate could not be judged. Null: it was judged."""
    rounds_enough: int | None = None
    """Number of rounds in each run that would decide an inconclusive gate.

    Null: the gate has another result, or too many rounds would be required.
    """


class ChangesDocument(Frozen):
    """Base and head, and the differences between them."""

    schema_: Literal["httpbench-changes/1"] = Field(default="httpbench-changes/1", alias="schema")
    base: Side
    head: Side
    environment: tuple[str, ...]
    """Properties of the environment that must match but don't."""
    toolchains: tuple[str, ...]
    """Programs and libraries with different versions."""
    cells: tuple[ExportedCell, ...]
    not_compared: tuple[str, ...]
    """Cells that only one of the two runs has."""
    gates: tuple[ChangeGateResult, ...]


def render_changes_json(found: Changes) -> str:
    """Render the changes as JSON. The text ends with a line break."""
    exported = ChangesDocument(
        base=found.base,
        head=found.head,
        environment=tuple(map(mismatch_text, found.environment)),
        toolchains=tuple(map(version_text, found.toolchains)),
        cells=tuple(ExportedCell(**dict(cell)) for cell in found.cells),
        not_compared=tuple(not_compared(found)),
        gates=tuple(
            ChangeGateResult(
                gate=judged.gate,
                cell=judged.index,
                place=gate_place(judged),
                passage=judged.passage,
                reason=gate_reason(judged),
                rounds_enough=judged.rounds_enough,
            )
            for judged in found.gates
        ),
    )
    return exported.model_dump_json(indent=2, by_alias=True) + "\n"


def render_changes_junit(found: Changes) -> str:
    """Render the gates, with a test case for each gate and cell. The text ends with a line break."""
    cases = [gate_case(judged, fails_if_inconclusive=found.fails_if_inconclusive) for judged in found.gates]
    return document([JUnitSuite(GATES, cases)], found.head.started_at, {"base": found.base.run, "head": found.head.run})
