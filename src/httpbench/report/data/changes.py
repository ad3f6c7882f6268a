"""Changes from one run to another as JSON in the schema ``httpbench-changes/1``, and their gates as JUnit XML."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PlainSerializer

from httpbench.analysis.changes import Cell, Changes, Side
from httpbench.model import Frozen, Gate, Reason
from httpbench.report.data.junit import document, gate_suite
from httpbench.report.data.profiles import ProfileChanges, profile_changes
from httpbench.report.words.changes import mismatch_text, not_compared, version_text
from httpbench.report.words.gates import gate_causes, gate_place, gate_reason
from httpbench.report.words.reasons import sentence
from httpbench.stats.gates import Passage

AsSentence = Annotated[Reason | None, PlainSerializer(lambda lost: sentence(lost) if lost else None, return_type=str | None)]


class ExportedCell(Cell):
    """One target under one load in both runs, with its reasons as sentences."""

    reasons_head: Annotated[tuple[Reason, ...], PlainSerializer(lambda found: tuple(map(sentence, found)), return_type=tuple[str, ...])]
    """Reasons for the verdict of head's rounds, or why they don't count."""
    lost_base: AsSentence = None
    """Number of base's rounds that don't count, and why, if they are too many for a comparison. Null: not too many."""
    lost_head: AsSentence = None
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
    undecidable: str | None = None
    """Why no number of rounds can decide an inconclusive gate. Null: the gate isn't inconclusive, or rounds can decide it."""


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
    """Cells that only one of the two runs has, and cells of which a run lost too many rounds."""
    gates: tuple[ChangeGateResult, ...]
    profile_changes: tuple[ProfileChanges, ...] = ()
    """Changes of the targets that both runs profiled under the same load."""


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
                undecidable=gate_causes(judged),
            )
            for judged in found.gates
        ),
        profile_changes=profile_changes(found.grown),
    )
    return exported.model_dump_json(indent=2, by_alias=True) + "\n"


def render_changes_junit(found: Changes) -> str:
    """Render the gates, with a test case for each gate and cell. The text ends with a line break."""
    gates = gate_suite(found.gates, found.grown, fails_if_inconclusive=found.fails_if_inconclusive)
    return document([gates], found.head.started_at, {"base": found.base.run, "head": found.head.run})
