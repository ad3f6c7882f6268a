"""The output of ``httpbench list``: the user's own targets, then all others in groups, by what they need before a trial."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from httpbench.model import Kind, Target
from httpbench.paths import is_built_in
from httpbench.run import Missing, State, TargetState, missing_of

READY = "Ready"
BUILT_ON_FIRST_USE = "Built on first use"
REQUIRE_PACKAGES = "Require Debian packages, which `httpbench setup` installs"
REQUIRE_SOFTWARE = "Require other software"
FAILED = "Failed to build"
REFUSED = "Can't run"
TITLES = (READY, BUILT_ON_FIRST_USE, REQUIRE_PACKAGES, REQUIRE_SOFTWARE, FAILED, REFUSED)

BY_STATE = {
    State.READY: READY,
    State.BUILT: READY,
    State.NOT_BUILT: BUILT_ON_FIRST_USE,
    State.MISSING: REQUIRE_SOFTWARE,
    State.BROKEN: FAILED,
    State.REFUSED: REFUSED,
}
OWN = {**BY_STATE, State.MISSING: "Requires software"}
"""Words for the states of the user's own targets."""

INDENT, KIND, NAME = 2, 9, 24
"""Widths, in characters, of the margin, of a column of kinds, and of a column of other names."""
UNVERIFIED = "*"


@dataclass(frozen=True, slots=True)
class Grouped:
    """A target in a group."""

    target: Target
    state: TargetState
    is_verified: bool
    """Whether it was verified on some machine, or can't be, because it runs in a container."""

    @property
    def name(self) -> str:
        """The id, with a mark if the target was never verified."""
        return f"{self.target.id}{'' if self.is_verified else UNVERIFIED}"


def lines(found: Sequence[Grouped], width: int) -> Iterator[str]:
    """Yield the lines of all groups, at most ``width`` characters wide, except for longer ids and addresses."""
    own = [each for each in found if not is_built_in(each.target.folder)]
    if own:
        yield f"Your targets ({len(own)})"
        for each in own:
            yield from _row(each.name, _own(each.state), NAME, width)
    groups: dict[str, list[Grouped]] = {title: [] for title in TITLES}
    lacks = _lacks(each for each in found if each not in own)
    for each in found:
        if each not in own:
            has_packages = each.target.id in lacks and all(lack.packages for lack in lacks[each.target.id])
            groups[REQUIRE_PACKAGES if has_packages else BY_STATE[each.state.state]].append(each)
    for title, members in groups.items():
        if members:
            yield f"{title} ({len(members)})"
            yield from _needing(members, lacks, width) if title in (REQUIRE_SOFTWARE, FAILED, REFUSED) else _by_kind(members, width)


def _lacks(found: Iterable[Grouped]) -> dict[str, list[Missing]]:
    """Return what each built-in target lacks that runs as a process, by its id.

    This may run commands of a manifest that print versions, so it must not be called with the user's own targets.
    """
    required = {each.target.id: each.target.requires for each in found if each.state.state is State.MISSING and not each.target.isolation}
    lacks: dict[str, list[Missing]] = {}
    for lack in missing_of(required):
        for name in lack.required_by:
            lacks.setdefault(name, []).append(lack)
    return lacks


def _own(state: TargetState) -> str:
    """Return the state of one of the user's targets, with its reason and what fixes it."""
    fix = state.fix if state.state is not State.NOT_BUILT else None
    return ": ".join(filter(None, (OWN[state.state].lower(), state.reason, fix)))


def _by_kind(found: Sequence[Grouped], width: int) -> Iterator[str]:
    for kind in Kind:
        if names := [each.name for each in found if each.target.kind is kind]:
            yield from _row(kind.plural, "  ".join(names), KIND, width)


def _needing(found: Sequence[Grouped], lacks: dict[str, list[Missing]], width: int) -> Iterator[str]:
    """Yield each reason and its fix, with the targets that can't run because of it."""
    needing: dict[tuple[str, str], list[str]] = {}
    for each in found:
        without = [(lack.requirement.label, lack.fix) for lack in lacks.get(each.target.id, ()) if not lack.packages]
        for problem in without or [(each.state.reason or "", each.state.fix or "")]:
            needing.setdefault(problem, []).append(each.name)
    for (reason, fix), names in needing.items():
        yield from _row(reason, "  ".join(names), NAME, width)
        if fix:
            yield f"{'':{INDENT + NAME}}{fix}"


def _row(name: str, text: str, column: int, width: int) -> Iterator[str]:
    """Yield a name and the text beside it, wrapped. A name that is wider than its column gets a line of its own."""
    start, later = f"{'':{INDENT}}{name:{column}}", " " * (INDENT + column)
    if len(name) >= column:
        yield start
        start = later
    yield from textwrap.wrap(text, width, initial_indent=start, subsequent_indent=later, break_long_words=False, break_on_hyphens=False)
