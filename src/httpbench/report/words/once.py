"""Joins sentences that differ only in their numbers into one sentence with ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
COUNTS = re.compile(r" \(([a-z][a-z ]* [\d,]+(?:, [a-z][a-z ]* [\d,]+)*)\)$")
"""Named counts at the end of a sentence: `` (connect timeout 12, timeout 77)``."""


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence that stands for several."""

    text: str
    """With ranges for numbers that vary: ``17 to 88 requests timed out``."""
    count: int
    """How many sentences it stands for."""
    varies: bool
    """Whether these differ."""


def family(text: str) -> tuple[str, ...]:
    """Return a text without its numbers and without counts at its end. Joined sentences have it in common."""
    return tuple(NUMBER.split(COUNTS.sub("", text)))


def once(texts: Iterable[str]) -> list[Said]:
    """Join each family of sentences, in the order of their first appearance."""
    families: dict[tuple[str, ...], list[str]] = {}
    for text in texts:
        families.setdefault(family(text), []).append(text)
    return [_said(words, own) for words, own in families.items()]


def _said(words: tuple[str, ...], texts: Sequence[str]) -> Said:
    ranges = [_range(each) for each in zip(*(NUMBER.findall(COUNTS.sub("", text)) for text in texts), strict=True)]
    text = "".join(part for pair in zip_longest(words, ranges, fillvalue="") for part in pair)
    return Said(text + _counts(texts), len(texts), len(set(texts)) > 1)


def _counts(texts: Sequence[str]) -> str:
    """Join the counts at the end of all sentences."""
    found: dict[str, list[str]] = {}
    for match in filter(None, map(COUNTS.search, texts)):
        for counted in re.findall(r"([a-z][a-z ]*) ([\d,]*\d)", match[1]):
            found.setdefault(counted[0], []).append(counted[1])
    return f" ({', '.join(f'{name} {_range(counts)}' for name, counts in found.items())})" if found else ""


def _range(numbers: Iterable[str]) -> str:
    ascending = sorted(set(numbers), key=lambda number: float(number.replace(",", "")))
    return ascending[0] if len(ascending) == 1 else f"{ascending[0]} to {ascending[-1]}"
