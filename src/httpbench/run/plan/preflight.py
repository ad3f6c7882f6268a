"""Check a run before anything is built: whether its loads are possible and its programs are installed."""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from httpbench import load
from httpbench.errors import RequirementError, UsageError
from httpbench.load import LoadGenerator
from httpbench.model import Load, Target, TrialPlan
from httpbench.run.builds.states import unmet
from httpbench.run.kinds import KINDS
from httpbench.run.plan.commands import LANGUAGE
from httpbench.run.plan.spec import RunSpec

SIMILARITY_MIN = 0.75
"""Minimum similarity of a program's name to one that the user typed, from 0 to 1, to suggest it."""


def refusals(spec: RunSpec) -> list[str]:
    """Return one sentence for each reason why the load generator or this machine can't run a part of the plan."""
    return list(_refused(spec))


def without_refused(spec: RunSpec) -> tuple[RunSpec, list[str]]:
    """Return the run without impossible trials, and a sentence for each reason why trials are impossible.

    If no trial is possible, return the run unchanged and no sentences. In this case, :func:`refusals` returns the reasons.
    """
    refused = _refused(spec)
    left_out = {planned.number for trials in refused.values() for planned in trials}
    kept = [planned for planned in spec.plan.trials if planned.number not in left_out]
    if not kept:
        return spec, []
    trials = tuple(planned.model_copy(update={"number": number}) for number, planned in enumerate(kept))
    total = len(spec.plan.trials)
    sentences = [f"left out {len(own)} of {total} trials ({_loads(own)}): {reason}" for reason, own in refused.items()]
    return replace(spec, plan=replace(spec.plan, trials=trials)), sentences


def _refused(spec: RunSpec) -> dict[str, list[TrialPlan]]:
    """Return the impossible trials, grouped by reason."""
    reasons: dict[object, str | None] = {}
    found: dict[str, list[TrialPlan]] = {}
    for planned in spec.plan.trials:
        target = spec.targets[planned.target]
        load = (target.kind, target.unix_socket, planned.load_generator, planned.workload, planned.load)
        if load not in reasons:
            generator, workload = spec.generators[planned.load_generator], spec.workloads[planned.workload]
            reasons[load] = KINDS[target.kind].refuses(generator, planned, workload, target)
        if reason := reasons[load]:
            found.setdefault(reason, []).append(planned)
    return found


def _loads(trials: Sequence[TrialPlan]) -> str:
    """Describe the loads of trials, as in ``100 connections, 10,000 to 25,000 requests/s; 100 connections, 500 to 3,500 requests/s``."""
    return "; ".join(dict.fromkeys(_words(planned.load) for planned in trials))


def _words(given: Load) -> str:
    words = f"{given.connections:,} connection" + ("" if given.connections == 1 else "s")
    if given.rate_rps is None:
        return words
    rising = f"{given.rate_from_rps:,.0f} to " if given.rate_from_rps is not None else ""
    return f"{words}, {rising}{given.rate_rps:,.0f} requests/s"


def require_programs(spec: RunSpec) -> None:
    """Check that the programs that trials require are installed.

    These are the user's commands, load generators or timers, our own programs, and the toolchain of a proxy's backend.

    Raises :class:`~httpbench.errors.UsageError`, :class:`~httpbench.errors.LoadError` or :class:`~httpbench.errors.RequirementError` if one
    is missing.
    """
    planned_targets = {planned.target for planned in spec.plan.trials}
    require_commands(target for name, target in spec.targets.items() if name in planned_targets)
    for kind in {spec.targets[planned.target].kind for planned in spec.plan.trials}:
        for generator in spec.generators.values():
            KINDS[kind].require_programs(generator)
    if any(planned.load.is_of_startup for planned in spec.plan.trials):
        load.timer("native").program()
    backends = [] if spec.backend_there else [spec.workloads[planned.workload].backend for planned in spec.plan.trials]
    for name in dict.fromkeys(filter(None, backends)):
        if missing := unmet(spec.targets[name]):
            reasons, fix = missing
            raise RequirementError(f"{name}, the server behind the proxies, requires {reasons}", hint=fix)


def require_commands(targets: Iterable[Target]) -> None:
    """Check that the user's commands exist, unless a preparation command or another ``PATH`` might provide them.

    Raises :class:`~httpbench.errors.UsageError` if one is missing.
    """
    for target in targets:
        if target.language != LANGUAGE or not target.run or target.isolation or target.prepare or "PATH" in target.env:
            continue
        program = target.run[0]
        if "{" not in program and shutil.which(str(Path(target.folder) / program) if "/" in program else program) is None:
            raise UsageError(f"{program} is missing, or is not a program", hint=_instead_of(program, Path(target.folder)))


def _instead_of(program: str, folder: Path) -> str:
    """Return what to try instead of a program that doesn't exist."""
    place, slash, name = program.rpartition("/")
    if not slash and shutil.which(str(folder / name)):
        return f"did you mean ./{name}? A program in this folder requires ./ before its name"
    folders = [folder / place] if slash else [Path(path) for path in os.get_exec_path()]
    similar = difflib.get_close_matches(name, _programs_in(folders), n=1, cutoff=SIMILARITY_MIN)
    if similar:
        return f"did you mean {place}{slash}{similar[0]}?"
    return "build it, or name its folder with --cwd" if slash else f"write ./{name} if it is in this folder"


def _programs_in(folders: Iterable[Path]) -> list[str]:
    """Return the names of all programs in folders, of which some may not exist."""
    found: dict[str, None] = {}
    for folder in folders:
        with contextlib.suppress(OSError):
            found |= dict.fromkeys(entry.name for entry in os.scandir(folder) if entry.is_file() and os.access(entry.path, os.X_OK))
    return list(found)


def with_warmup_of_its_own(spec: RunSpec) -> RunSpec:
    """If the native load generator is missing, return the run with warm-ups of fixed length by its own load generators.

    Only with the native load generator can a warm-up end when throughput is steady. Without it, each warm-up lasts for the maximum time.
    """
    if not any(isinstance(generator, LoadGenerator) for generator in spec.generators.values()) or spec.load_place.native() is not None:
        return spec
    trials = [planned.model_copy(update={"load": _fixed(planned.load)}) for planned in spec.plan.trials]
    return replace(spec, plan=replace(spec.plan, trials=tuple(trials)))


def _fixed(given: Load) -> Load:
    if given.warmup_max_s is None:
        return given
    return given.model_copy(update={"warmup_s": given.warmup_max_s, "warmup_max_s": None})
