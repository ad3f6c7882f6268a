"""``httpbench list``: targets, their state, and how to fix problems."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from httpbench.cli.options.fields import Options, command, group, option
from httpbench.cli.options.output import json_option
from httpbench.cli.options.params import PLACES
from httpbench.cli.options.shared import Selection
from httpbench.cli.terminal import console

if TYPE_CHECKING:
    from httpbench.model import Proof, Target
    from httpbench.run import TargetState


TARGET_KEYS = ("id", "kind", "language", "framework", "variant", "category", "tuning", "scaling", "limits", "upstream", "notes")
STATE_KEYS = ("state", "reason", "fix", "version")
"""JSON keys that are also attributes of the target (``TARGET_KEYS``) or of its state (``STATE_KEYS``)."""

IMAGE_TARGETS_SHOWN = 3
ID_WIDTH = 40
"""Maximum width of ids in another project's catalog, in characters. Longer ids wrap."""


class ListOptions(Options):
    selection: Selection = group(Selection)
    isolate: str | None = option(
        "--isolate",
        type=click.Choice(PLACES),
        default_text="process",
        help="Where the targets would run; in containers, the state is that of their images.",
    )
    images: bool = option("--images", is_flag=True, help="List the base images of the targets' container images.")
    long: bool = option("--long", is_flag=True, help="Show a table with the category, scaling, state, proof and fix of each target.")
    json: bool = json_option()


@dataclass(frozen=True, slots=True)
class Listed:
    """A target with its state and proof."""

    target: Target
    state: TargetState
    builds: tuple[tuple[Target, TargetState], ...]
    """Builds with optional features that trials can need, and their states. Empty: the target has no optional features."""
    proof: Proof | None
    """Proof that is recorded in the project. ``None``: none."""
    proof_words: str
    is_verified: bool
    """Whether it was verified on some machine, or can't be, because it runs in a container."""


@command(ListOptions, name="list")
def list_targets(options: ListOptions) -> None:
    """List targets, their state, and how to fix problems.

    With --long, the Proof column shows whether a target was verified on this machine or another one, or was never built.

    \b
    httpbench list                         all targets
    httpbench list --long                  a table with the fix for each
    httpbench list golang c/epoll          a language, and one framework
    httpbench list --isolate docker        the images of servers and proxies
    httpbench list --images golang         the base images to pull for a language
    httpbench list --targets ~/mine mine   targets of your own
    """
    from httpbench.catalog import load_valid
    from httpbench.errors import CatalogError, SelectionError

    known, problems = load_valid(options.selection.targets)
    try:
        selected = options.selection.of(known)
    except SelectionError:
        if not problems:  # otherwise, the missing target may be in an invalid file
            raise
    else:
        _list(selected, options)
    if problems:
        raise CatalogError(problems)


def _list(selected: Sequence[Target], options: ListOptions) -> None:
    from httpbench import catalog, host
    from httpbench.paths import is_built_in
    from httpbench.run import builds_of, cache_folder, states

    if options.images:
        _list_images(selected, options.isolate, as_json=options.json)
        return
    targets = sorted(_placed(selected, options.isolate), key=lambda target: is_built_in(target.folder))
    recorded = catalog.read_proofs()
    with host.remembering(cache_folder() / "versions.json"):
        builds = [build for target in targets for build in builds_of(target)]
        known = dict(zip((build.build_name for build in builds), states(builds), strict=True))
        found = [_listed(target, known, recorded) for target in targets]
    if options.json:
        console.echo_json([_entry(listed) for listed in found])
    elif all(listed.target.entry for listed in found):
        _show_catalogue(found, options.selection.targets)
    elif options.long:
        _show_table(found)
    else:
        _show_groups(found, options.selection)


def _placed(targets: Sequence[Target], place: str | None) -> Sequence[Target]:
    """Return the targets as they run in this place. For a container engine, leave out clients, because they run only as processes."""
    if place in (None, PLACES[0]):
        return targets
    from httpbench.model import Engine, Isolation, Kind
    from httpbench.run import everywhere

    return everywhere([target for target in targets if target.kind is not Kind.CLIENT], [Isolation(engine=Engine(place))])


def _listed(target: Target, known: Mapping[str, TargetState], recorded: Mapping[str, Proof]) -> Listed:
    """Return a target with its states and proof. A target in a user's folder has no recorded proof."""
    from httpbench.paths import is_built_in
    from httpbench.report.words.targets import HERE, NOT_VERIFIED, UNKNOWN, proof_words
    from httpbench.run import State, builds_of, is_verified_here, sources_of

    state = known[target.build_name]
    proof = recorded.get(target.id) if is_built_in(target.folder) else None
    if target.isolation is not None:
        words = UNKNOWN
    elif is_verified_here(target):
        words = HERE
    elif proof is None and state.state in (State.BUILT, State.READY):
        words = NOT_VERIFIED
    else:
        words = proof_words(target, proof, sources_of(target) if proof else "")
    is_verified = words in (HERE, UNKNOWN) or (proof is not None and bool(proof.scaling))
    builds = tuple((build, known[build.build_name]) for build in builds_of(target) if build.features)
    return Listed(target, state, builds, proof, words, is_verified)


def _show_groups(found: Sequence[Listed], selection: Selection) -> None:
    from httpbench.cli.terminal.target_groups import REQUIRE_PACKAGES, UNVERIFIED, Grouped, lines

    grouped = [Grouped(listed.target, listed.state, listed.is_verified) for listed in found]
    shown = list(lines(grouped, console.stdout().width))
    for line in shown:
        console.echo(line)
    if not all(each.is_verified for each in grouped):
        console.echo(f"{UNVERIFIED} not verified yet: httpbench verify TARGET", err=True)
    if any(line.startswith(REQUIRE_PACKAGES) for line in shown):
        console.echo(f"to install these packages: {shlex.join(['httpbench', 'setup', *selection.words])}", err=True)
    _show_unchecked(found)
    console.echo("state, proof and fix of each target: httpbench list --long", err=True)


def _show_unchecked(found: Sequence[Listed]) -> None:
    unchecked = sorted({name for listed in found for name in listed.state.unchecked})
    if unchecked:
        console.echo(f"version not checked, because list runs no program that a --targets folder names: {', '.join(unchecked)}", err=True)


def _show_table(found: Sequence[Listed]) -> None:
    from httpbench.report.terminal.grid import column
    from httpbench.run import State

    styles = {State.READY: "green", State.BUILT: "green", State.MISSING: "yellow", State.BROKEN: "red", State.REFUSED: "red"}
    state = column("State", map(_state_words, found), folds_at=16)
    for text, listed in zip(state.texts, found, strict=True):
        text.stylize(styles.get(listed.state.state, ""))
    columns = [
        column("Target", (listed.target.id for listed in found)),
        column("Category", (str(listed.target.category or "") for listed in found), need=3),
        column("Tuning", (str(listed.target.tuning) for listed in found), need=2),
        column("Scaling", (", ".join(listed.target.scaling) for listed in found), need=4),
        state,
        column("Features", map(_features_words, found), need=1, folds_at=16),
        column("Proof", (listed.proof_words for listed in found), need=1, folds_at=20),
        column("Fix", ("" if listed.state.state is State.NOT_BUILT else listed.state.fix or "" for listed in found), folds_at=20),
    ]
    console.show(columns)
    later = [listed.state.fix for listed in found if listed.state.state is State.NOT_BUILT]
    if later:
        console.echo(f"not built: built before the first trial; to build and verify one now: {later[0]}", err=True)
    _show_unchecked(found)


def _features_words(listed: Listed) -> str:
    """Return the state of the build with each optional feature. A build with several features isn't shown."""
    return ", ".join(f"{target.features[0]} {state.state}" for target, state in listed.builds if len(target.features) == 1)


def _state_words(listed: Listed) -> str:
    state = listed.state
    return f"{state.state} {state.reason or state.version or ''}".strip()


def _show_catalogue(found: Sequence[Listed], folders: Sequence[Path]) -> None:
    """Print another project's targets. All need the same command, which is printed once, below the table."""
    from rich.table import Column, Table
    from rich.text import Text

    from httpbench.run import State

    name = Column("Target", overflow="fold", max_width=ID_WIDTH)
    table = Table(name, Column("Category", no_wrap=True), Column("State", overflow="fold"), box=None, pad_edge=False)
    for listed in found:
        target, state = listed.target, listed.state
        text = f"{state.state}: {state.reason or ', '.join(target.paths)}"
        table.add_row(target.id, str(target.category or ""), Text(text, style="red" if state.state is State.REFUSED else ""))
    console.stdout().print(table)
    possible = sum(listed.state.state is not State.REFUSED for listed in found)
    where = " ".join(f"--targets {shlex.quote(str(folder))}" for folder in folders)
    console.echo(f"{possible:,} of {len(found):,} targets can be run: httpbench verify {where} --isolate docker TARGET", err=True)


def _entry(listed: Listed) -> dict[str, Any]:
    from httpbench.run import stages_of

    target, state = listed.target, listed.state
    return {
        **{name: getattr(target, name) for name in TARGET_KEYS},
        **{name: getattr(state, name) for name in STATE_KEYS},
        "builds": [{"features": build.features, "state": own.state, "version": own.version} for build, own in listed.builds],
        "proof": listed.proof_words,
        "recorded": listed.proof.model_dump(mode="json", exclude={"id"}) if listed.proof else None,
        "unchecked": state.unchecked,
        "paths": target.paths,
        "stages": [asdict(stage) for stage in stages_of(target)],
        "entry": target.entry.model_dump(mode="json") if target.entry else None,
    }


def _list_images(targets: Sequence[Target], place: str | None, *, as_json: bool) -> None:
    """Print the base images of all targets that are not refused. Raise :class:`ContainerError` if the engine does not respond."""
    from rich.table import Column, Table
    from rich.text import Text

    from httpbench.model import Engine
    from httpbench.report.words.numbers import plural
    from httpbench.run import bases_of

    engine = Engine.DOCKER if place in (None, PLACES[0]) else Engine(place)
    possible = [target for target in targets if target.entry is None or target.entry.refusal is None]
    found = bases_of(possible, engine)
    if as_json:
        console.echo_json([asdict(base) for base in found])
        return
    image, names = (Column(title, overflow="fold") for title in ("Base image", "Targets"))
    table = Table(image, Column("State", no_wrap=True), names, box=None, pad_edge=False)
    for base in found:
        state = Text("here", style="green") if base.is_here else Text("to pull", style="yellow")
        shown = ", ".join(base.targets[:IMAGE_TARGETS_SHOWN]) + (", …" if len(base.targets) > IMAGE_TARGETS_SHOWN else "")
        table.add_row(Text(base.image), state, Text(f"{len(base.targets):,}: {shown}"))
    console.stdout().print(table)
    here = sum(base.is_here for base in found)
    console.echo(f"{here:,} of {len(found):,} base images of {len(possible):,} targets are on this machine", err=True)
    if here < len(found):
        console.echo(f"to add one: {engine} pull IMAGE", err=True)
    if refused := len(targets) - len(possible):
        console.echo(f"not counted: {plural(refused, 'refused target')}", err=True)
