"""Sentences that differ only in their numbers, joined into one sentence with ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
COUNTS = re.compile(r" \(([a-z][a-z ]* [\d,]+(?:, [a-z][a-z ]* [\d,]+)*)\)$")
"""Pattern of named counts at the end of a sentence: `` (connect timeout 12, timeout 77)``."""


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence that replaces one or more sentences that are equal or differ only in their numbers."""

    text: str
    """Text with ranges in place of numbers that vary: ``17 to 88 requests timed out``."""
    count: int
    """Number of sentences that this sentence replaces."""
    varies: bool
    """Whether the replaced sentences differ from each other."""


def family(text: str) -> tuple[str, ...]:
    """Return the parts of a sentence between its numbers, without the counts at its end. Sentences with equal parts form one family."""
    return tuple(NUMBER.split(COUNTS.sub("", text)))


def once(texts: Iterable[str]) -> list[Said]:
    """Join the sentences of each family, in the order in which the families first appear."""
    families: dict[tuple[str, ...], list[str]] = {}
    for text in texts:
        families.setdefault(family(text), []).append(text)
    return [_said(words, own) for words, own in families.items()]


def _said(words: tuple[str, ...], texts: Sequence[str]) -> Said:
    ranges = [_range(each) for each in zip(*(NUMBER.findall(COUNTS.sub("", text)) for text in texts), strict=True)]
    text = "".join(part for pair in zip_longest(words, ranges, fillvalue="") for part in pair)
    return Said(text + _counts(texts), len(texts), len(set(texts)) > 1)


def _counts(texts: Sequence[str]) -> str:
    """Return the ranges of the counts at the ends of sentences, such as `` (timeout 12 to 77)``, or an empty string if there are none."""
    found: dict[str, list[str]] = {}
    for match in filter(None, map(COUNTS.search, texts)):
        for counted in re.findall(r"(?:^|[^a-z ] ?)([a-z]+(?: [a-z]+)*+) ([\d,]*\d)", match[1]):
            found.setdefault(counted[0], []).append(counted[1])
    return f" ({', '.join(f'{name} {_range(counts)}' for name, counts in found.items())})" if found else ""


def _range(numbers: Iterable[str]) -> str:
    ascending = sorted(set(numbers), key=lambda number: float(number.replace(",", "")))
    return ascending[0] if len(ascending) == 1 else f"{ascending[0]} to {ascending[-1]}"
