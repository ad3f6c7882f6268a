"""Packages and mappings that import something only when it is first used, so that a verb loads only what it needs."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def exports(package: str) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package that lists its exports as imports under ``if TYPE_CHECKING``.

    Type checkers and import-linter see ordinary imports. No export may have the name of a submodule, because the import of that submodule
    would replace it.
    """
    module = sys.modules[package]
    assert module.__file__
    origins = {
        alias.asname or alias.name: (statement.module, alias.name)
        for block in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body
        if isinstance(block, ast.If)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }

    def imported(name: str) -> object:
        if name not in origins:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=module)
        origin, its_name = origins[name]
        found = getattr(import_module(origin), its_name)
        setattr(module, name, found)
        return found

    return imported


class LazyMapping(Mapping[Key, Value]):
    """A mapping that makes each value when it is first used. ``makers`` has a function for each key."""

    def __init__(self, makers: Mapping[Key, Callable[[], Value]]):
        self._makers = makers
        self._made: dict[Key, Value] = {}

    def __getitem__(self, key: Key) -> Value:
        if key not in self._made:
            self._made[key] = self._makers[key]()
        return self._made[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
