"""Find regular expressions in Python sources, and texts on which they take time that grows faster than the text.

A backtracking engine takes quadratic time if two repetitions in a row can match the same characters, or if a search that fails late begins
again at each character. The texts repeat whatever a pattern repeats, alone or after what comes before it, and end with a character that
no pattern expects.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, TypeGuard

METHODS = {"search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split"}
REPEATS = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)
MANY = 100
"""A repetition whose limit is higher counts as unlimited."""
SHORT = 1200
"""Length of the shorter of two texts, in characters. The other one has four times as many."""
SLOW_S = 0.0005
"""CPU time below which a text isn't slow, in seconds. For the shorter text, a pattern of quadratic time takes at least 2 ms on today's
processors, and one of linear time at most 0.06 ms."""
GROWTH = 11
"""Growth of the time from which a pattern counts as slow; 4 is linear, 16 is quadratic. Other programs
slow the longer text down more often, so linear patterns have been seen at 8."""
PAIRS = 6
"""Number of times that both texts are measured, in turns. The shortest time of each counts, because other programs only lengthen it."""
CANDIDATES = "a 1-/.\\\"'{[(<:,;=&|`\n\t~"
CHOICES = 4


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression in a source file. Parts that are known only at run time are the letter ``x``."""

    place: str
    text: str | bytes | None
    """``None`` if nothing of it is known."""
    method: str
    """The method that takes the most time of those that are called on it: ``finditer``, ``search``, ``fullmatch`` or ``match``."""
    flags: int = 0


def patterns(root: Path, folder: Path) -> Iterator[Pattern]:
    """Yield the regular expressions in a folder. Places are relative to ``root``."""
    files = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))}
    everything = "\n".join(files.values())
    for path, source in files.items():
        tree = ast.parse(source)
        named = dict(_assigned(tree))
        for node in ast.walk(tree):
            if _is_of_re(node, METHODS | {"compile"}):
                assert isinstance(node.func, ast.Attribute)
                text = _text(node.args[0], {name: value for name, (value, _) in named.items()})
                own = next((name for name, (_, call) in named.items() if call is node), None)
                methods = {node.func.attr} - {"compile"}
                if own is not None:
                    methods |= set(re.findall(rf"\b{own}\.(\w+)\(", everything)) & METHODS
                yield Pattern(f"{path.relative_to(root)}:{node.lineno}", text, _slowest(methods), _flags(node))


def _flags(call: ast.Call) -> int:
    given = (each for argument in (*call.args[1:], *call.keywords) for each in ast.walk(argument) if isinstance(each, ast.Attribute))
    return sum({getattr(re, each.attr) for each in given if isinstance(getattr(re, each.attr, None), re.RegexFlag)})


def _slowest(methods: set[str]) -> str:
    return next((method for method in ("match", "fullmatch", "search") if methods == {method}), "finditer")


def _is_of_re(node: ast.AST, methods: set[str]) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in methods
        and bool(node.args)
    )


def _assigned(tree: ast.Module) -> Iterator[tuple[str, tuple[str | bytes, Any]]]:
    """Yield the names of strings and patterns, with their text and the expression."""
    known: dict[str, str | bytes] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value.args[0] if _is_of_re(node.value, {"compile"}) else node.value
            if (text := _text(value, known)) is not None:
                known[node.targets[0].id] = text
                yield node.targets[0].id, (text, node.value)


def _text(node: ast.expr, known: dict[str, str | bytes]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
        return node.value
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute) and node.attr == "pattern":
        return _text(node.value, known)
    if isinstance(node, ast.JoinedStr):
        parts = [each.value if isinstance(each, ast.FormattedValue) else each for each in node.values]
        return "".join(text if isinstance(text := _text(each, known), str) else "x" for each in parts)
    return None


def slow_text(pattern: Pattern) -> str | None:
    """Return the beginning of a text on which the pattern takes much more than four times as long if the text is four times as long."""
    assert pattern.text is not None
    compiled = re.compile(pattern.text, pattern.flags)
    text = pattern.text if isinstance(pattern.text, str) else pattern.text.decode("latin-1")
    for before, repeated in dict.fromkeys(_repeats(parser.parse(text, pattern.flags), ("",))):
        for begin, part in (("", repeated), (before, repeated), ("", before + repeated), ("", before)):
            for end in ("\0", "\n\0"):
                count = 1 + SHORT // max(len(part), 1)
                texts = [begin + part * times + end for times in (count, 4 * count)]
                if _time_s(compiled, texts[0], pattern.method) < SLOW_S:
                    continue
                pairs = [[_time_s(compiled, each, pattern.method) for each in texts] for _ in range(PAIRS)]
                short, long = (min(times) for times in zip(*pairs, strict=True))
                if short >= SLOW_S and long > GROWTH * short:
                    return begin + part * 3
    return None


def _time_s(compiled: re.Pattern[Any], text: str, method: str) -> float:
    subject = text if isinstance(compiled.pattern, str) else text.encode("latin-1", "replace")
    begin_s = time.process_time()
    found = getattr(compiled, method)(subject)
    if method == "finditer":
        for _ in found:
            pass
    return time.process_time() - begin_s


def _repeats(sequence: Any, before: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield pairs of texts: one that a pattern matches up to a repetition, and one that the repetition matches once."""
    for kind, value in sequence:
        if kind in REPEATS and (value[1] is kinds.MAXREPEAT or value[1] > MANY):
            yield from ((text, each) for text in before[:3] for each in _samples(value[2]))
        for inner in _inner(kind, value):
            yield from _repeats(inner, before)
        before = tuple(text + each for text in before[:2] for each in _samples([(kind, value)])[:3])


def _inner(kind: Any, value: Any) -> list[Any]:
    if kind in REPEATS:
        return [value[2]]
    if kind is kinds.SUBPATTERN:
        return [value[3]]
    if kind is kinds.BRANCH:
        return list(value[1])
    return [value] if kind is kinds.ATOMIC_GROUP else []


def _samples(sequence: Any) -> list[str]:
    """Return a few texts that a pattern matches. Conditions on what surrounds them are ignored."""
    found = [""]
    for kind, value in sequence:
        inner = [text for each in _inner(kind, value) for text in _samples(each)[:CHOICES]]
        if kind is kinds.LITERAL:
            texts = [chr(value)]
        elif kind is kinds.NOT_LITERAL:
            texts = ["b" if value == ord("a") else "a"]
        elif kind is kinds.ANY:
            texts = ["a", " "]
        elif kind is kinds.IN:
            texts = [each for each in CANDIDATES + _members(value) if re.fullmatch(_class(value), each)][:CHOICES]
        elif kind in REPEATS:
            texts = [text * max(value[0], 1) for text in inner]
        else:
            texts = inner or [""]
        found = [begin + text for begin in found[:2] for text in texts[:CHOICES]][:CHOICES]
    return found


def _members(members: Any) -> str:
    return "".join(chr(value if kind is kinds.LITERAL else value[0]) for kind, value in members if kind in (kinds.LITERAL, kinds.RANGE))


def _class(members: Any) -> str:
    """Return a parsed class of characters as a pattern."""
    names = {
        kinds.CATEGORY_DIGIT: r"\d",
        kinds.CATEGORY_NOT_DIGIT: r"\D",
        kinds.CATEGORY_SPACE: r"\s",
        kinds.CATEGORY_NOT_SPACE: r"\S",
        kinds.CATEGORY_WORD: r"\w",
        kinds.CATEGORY_NOT_WORD: r"\W",
    }
    parts = []
    for kind, value in members:
        if kind is kinds.NEGATE:
            parts.append("^")
        elif kind is kinds.LITERAL:
            parts.append(re.escape(chr(value)))
        elif kind is kinds.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        else:
            parts.append(names[value])
    return f"[{''.join(parts)}]"
