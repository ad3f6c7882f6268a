"""Container engines, before anything is measured: those of the targets must respond, and what a killed run left behind is removed."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from httpbench.errors import ContainerError
from httpbench.model import Engine, Target
from httpbench.run import engines_left, engines_of, remove_leftovers, require_engine


def prepare_engines(targets: Iterable[Target], errors: Console) -> None:
    """Raises :class:`~httpbench.errors.RequirementError` with the fix if an engine is missing, or does not respond.

    An engine that no target requires is asked only if a killed run may have left a container there. Such a container may use the CPUs
    that are measured.
    """
    for engine in engines_of(targets):
        require_engine(engine)
        _remove(engine, errors)
    for engine in engines_left():
        try:
            _remove(engine, errors)
        except ContainerError as error:
            fix = f"; fix: {error.hint}" if error.hint else ""
            text = f"warning: a container of an earlier httpbench may still run: {error.message}{fix}"
            errors.print(text, markup=False, soft_wrap=True)


def _remove(engine: Engine, errors: Console) -> None:
    if removed := remove_leftovers(engine):
        count = f"{len(removed)} container" + ("" if len(removed) == 1 else "s")
        errors.print(f"removed {count} that an earlier httpbench left behind when it was killed", markup=False)
