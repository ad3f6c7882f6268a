"""The catalog: every target, workload and suite that a command can name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from httpbench.catalog import files, httparena, techempower, web_frameworks, workload_names
from httpbench.errors import CatalogError, SelectionError
from httpbench.model import Frozen, Suite, Target, TargetFile, Variant, Workload
from httpbench.paths import foreign_catalogue, manifests, root, target_id

Named = TypeVar("Named", Suite, Workload)
Value = TypeVar("Value", bound=Frozen)
Source = TypeVar("Source")
Result = TypeVar("Result")

LAYOUTS: dict[str, Callable[[Path], list[Target]]] = {
    techempower.NAME: techempower.read,
    httparena.NAME: httparena.read,
    web_frameworks.NAME: web_frameworks.read,
}
"""Readers of other projects' catalogs, by the layout's name in ``LAYOUT:DIR``."""


@dataclass(frozen=True, slots=True)
class Catalog:
    targets: dict[str, Target]
    workloads: dict[str, Workload]
    suites: dict[str, Suite]

    def workload(self, name: str) -> Workload:
        return workload_names.find(self.workloads, name)

    def suite(self, name: str) -> Suite:
        if name not in self.suites:
            known = sorted(self.suites)
            raise SelectionError(f'unknown suite "{name}"{files.did_you_mean(name, known)}', hint=f"use one of {', '.join(known)}")
        return self.suites[name]


def load(extra_targets: Sequence[Path] = ()) -> Catalog:
    """Read all targets, workloads and suites. Raises :class:`CatalogError` with the problems in all files.

    Another project's catalog replaces the built-in targets, because it has hundreds of targets, some with the same ids as built-in ones.
    """
    found, problems = load_valid(extra_targets)
    if problems:
        raise CatalogError(problems)
    return found


def load_valid(extra_targets: Sequence[Path] = ()) -> tuple[Catalog, list[str]]:
    """Read all targets, workloads and suites from valid files, and return them with the problems in the invalid files."""
    found, broken, problems = _read(extra_targets)
    return found, broken + problems


def load_named(extra_targets: Sequence[Path], choose: Callable[[Catalog], object]) -> tuple[Catalog, list[str]]:
    """Read what ``choose`` needs, and return it with the problems in broken ``target.toml`` files, which don't concern the named targets.

    ``choose`` raises :class:`SelectionError` if a name matches no valid target. In this case, and for problems other than broken files,
    raises :class:`CatalogError` with all problems.
    """
    found, broken, problems = _read(extra_targets)
    if problems:
        raise CatalogError(broken + problems)
    if broken:
        try:
            choose(found)
        except SelectionError:
            raise CatalogError(broken) from None
    return found, broken


def _read(extra_targets: Sequence[Path]) -> tuple[Catalog, list[str], list[str]]:
    """Read the catalog. Return it with the problems in broken ``target.toml`` files, and with all other problems."""
    folder = root()
    broken: list[str] = []
    problems: list[str] = []
    others = [foreign for extra in extra_targets if (foreign := foreign_catalogue(extra))]
    mine = [extra for extra in extra_targets if foreign_catalogue(extra) is None]
    built_in = [] if others else manifests(folder / "targets")
    paths = built_in + [path for extra in mine for path in _of_user(extra, problems)]
    found = _read_all(dict.fromkeys(paths), _targets, broken)
    found += _read_all(others, _of_other_project, problems)
    targets = _unique(((target.id, target, target.folder) for variants in found for target in variants), problems)
    workloads = _unique(_named(folder / "workloads", Workload, problems), problems)
    suites = _unique(_named(folder / "suites", Suite, problems), problems)
    problems += _unknown_workloads(suites.values(), workloads)
    return Catalog(targets, workloads, suites), broken, problems


def _of_other_project(named: tuple[str, Path]) -> list[Target]:
    layout, folder = named
    if layout not in LAYOUTS:
        known = ", ".join(f"{name}:DIR" for name in LAYOUTS)
        raise CatalogError([f'{layout}:{folder}: unknown layout "{layout}"{files.did_you_mean(layout, list(LAYOUTS))}; use {known}'])
    return LAYOUTS[layout](folder)


def _of_user(folder: Path, problems: list[str]) -> list[Path]:
    found = manifests(folder) if folder.is_dir() else []
    if not found:
        wrong = "contains no target.toml" if folder.is_dir() else "is not a folder"
        problems.append(f"{folder}: {wrong}; --targets requires a folder with target.toml files, at any depth")
    return found


def _targets(path: Path) -> list[Target]:
    manifest = files.read(path, TargetFile)
    return [_target(manifest, variant, path.parent) for variant in manifest.variant]


def _target(manifest: TargetFile, variant: Variant, folder: Path) -> Target:
    """Build a target from the fields of the file and the variant's overrides."""
    overrides = {name: value for name, value in variant if value is not None and name != "name"}
    combined = {
        "id": target_id(manifest.kind, manifest.language, manifest.framework, variant.name),
        "variant": variant.name,
        "notes": " ".join(filter(None, (manifest.notes, variant.notes))) or None,
        "folder": str(folder.resolve()),
    }
    return Target(**(dict(manifest) | overrides | combined))


def _named(folder: Path, model: type[Named], problems: list[str]) -> list[tuple[str, Named, str]]:
    paths = sorted(folder.glob("*.toml"))
    values = _read_all(paths, lambda path: files.read(path, model), problems)
    return [(value.name, value, str(folder)) for value in values]


def _read_all(sources: Iterable[Source], read: Callable[[Source], Result], problems: list[str]) -> list[Result]:
    values = []
    for source in sources:
        try:
            values.append(read(source))
        except CatalogError as error:
            problems += error.problems
    return values


def _unique(entries: Iterable[tuple[str, Value, str]], problems: list[str]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    for name, value, origin in entries:
        if name in values:
            problems.append(f'{origin}: "{name}" is already defined in {origins[name]}; rename one of them')
            continue
        values[name] = value
        origins[name] = origin
    return values


def _unknown_workloads(suites: Iterable[Suite], workloads: dict[str, Workload]) -> list[str]:
    problems = []
    for suite in suites:
        for name in suite.workloads:
            try:
                workload_names.find(workloads, name)
            except SelectionError as error:
                problems.append(f"suite {suite.name}: {error.message}")
    return problems
