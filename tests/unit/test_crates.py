"""Tests that the modules of a crate form no import cycle, directly or through a third module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from httpbench.catalog import root

Module = tuple[str, ...]
"""Names of a module and its parents, from the crate's root down."""

CRATES = sorted(Path(root(), "crates").glob("*/src"))
COMMENT = re.compile(r"//.*")
PATH = re.compile(r"\b(crate|super(?:::super)*)::(\{[^}]*\}|\w+)")
ROOTS = ("lib", "main", "mod")


def module_of(file: Path, source: Path) -> Module:
    parts = file.relative_to(source).with_suffix("").parts
    return parts[:-1] if parts[-1] in ROOTS else parts


def uses(module: Module, text: str) -> Iterator[Module]:
    """Yield the module at the beginning of each ``crate::`` or ``super::`` path in a file."""
    above, _, tests = COMMENT.sub("", text).partition("mod tests {")
    for part, within in ((above, module), (tests, (*module, "tests"))):
        for start, names in PATH.findall(part):
            base = () if start == "crate" else within[: -start.count("super")]
            yield from ((*base, name) for name in re.findall(r"(?:^|[{,])\s*(\w+)", names))


def siblings(modules: dict[Module, str]) -> Iterator[tuple[Module, Module]]:
    """Yield pairs of sibling modules where the first uses the second."""
    for module, text in modules.items():
        for used in uses(module, text):
            at = len(used) - 1
            if used[:at] == module[:at] and at < len(module) and used != module[: at + 1] and any(m[: at + 1] == used for m in modules):
                yield module[: at + 1], used


def cycle(source: Path) -> list[Module]:
    """Return one cycle of sibling modules in a crate, or an empty list."""
    modules = {module_of(file, source): file.read_text(encoding="utf-8") for file in source.rglob("*.rs")}
    graph: dict[Module, set[Module]] = {}
    for user, used in siblings(modules):
        graph.setdefault(user, set()).add(used)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("source", CRATES, ids=lambda source: source.parent.name)
def test_modules_of_a_crate_form_no_cycle(source: Path) -> None:
    assert cycle(source) == []


def test_a_cycle_is_detected(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "lib.rs").write_text("pub mod a;\npub mod b;\n")
    (tmp_path / "a" / "mod.rs").write_text("mod c;\nuse crate::{b::X, Y};\n")
    (tmp_path / "a" / "c.rs").write_text("// use crate::d;\nuse super::Z;\n")
    (tmp_path / "b.rs").write_text("")
    assert cycle(tmp_path) == []
    (tmp_path / "b.rs").write_text("mod tests {\n    use super::super::a;\n}\n")
    assert set(cycle(tmp_path)) == {("a",), ("b",)}
