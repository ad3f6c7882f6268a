"""Select targets by the words and options of a command.

A word selects targets by the first of these rules that matches any target:

1. The target's id is exactly the word.
2. The word is one or more consecutive parts of the id, such as ``epoll``, ``c/epoll`` or ``epoll/level``. The word can therefore be a
   language or a framework.
3. The word is the target's category.
4. The id contains the word anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from httpbench.catalog.files import did_you_mean
from httpbench.errors import SelectionError
from httpbench.model import Category, Kind, Target


def select(
    targets: Iterable[Target],
    words: Sequence[str],
    *,
    kind: Kind | None = None,
    languages: Sequence[str] = (),
    categories: Sequence[Category] = (),
    ignore: Sequence[str] = (),
) -> list[Target]:
    """Return the targets that match the words and all options, in the catalog's order.

    A target must match at least one of ``words``. If there are no words, every target matches.

    Raises :class:`SelectionError` if a word matches no target, or if no target matches all options.
    """
    candidates = [target for target in targets if kind is None or target.kind is kind]
    chosen = {target.id for word in words for target in matching(candidates, word)} if words else {target.id for target in candidates}
    ignored = {target.id for word in ignore for target in matching(candidates, word)}
    known = sorted({target.language for target in candidates})
    for language in languages:
        if language not in known:
            raise SelectionError(
                f'no target is written in "{language}"{did_you_mean(language, known)}', hint=f"languages: {', '.join(known)}"
            )
    selected = [
        target
        for target in candidates
        if target.id in chosen - ignored
        and (not languages or target.language in languages)
        and (not categories or target.category in categories)
    ]
    if not selected:
        raise SelectionError("no target matches all options", hint="`httpbench list` shows all targets")
    return selected


def matching(targets: Sequence[Target], word: str) -> list[Target]:
    """Return the targets that match a word. Raises :class:`SelectionError` if no target does."""
    exact = [target for target in targets if target.id == word]
    if exact:
        return exact
    by_part = [target for target in targets if _has_parts(target, word.strip("/"))]
    if by_part:
        return by_part
    if word in list(Category):
        return [target for target in targets if target.category == word]
    by_text = [target for target in targets if word in target.id]
    if not by_text:
        ids = [target.id for target in targets]
        names = sorted({part for name in ids for part in name.split("/")}) + ids
        raise SelectionError(f'"{word}" matches no target{did_you_mean(word, names)}', hint="`httpbench list` shows all targets")
    return by_text


def _has_parts(target: Target, wanted: str) -> bool:
    """Return whether ``wanted`` consists of whole, consecutive parts of the id, with or without the prefix for the kind."""
    return any(f"/{wanted}/" in f"/{name}/" for name in (target.id, target.id.removeprefix(f"{target.kind}:")))


def kind_of(targets: Sequence[Target], words: Sequence[str]) -> Kind | None:
    """Return the first kind that has a target for every word, or ``None`` if no kind does. A run measures targets of one kind."""
    for kind in Kind:
        of_kind = [target for target in targets if target.kind is kind]
        if all(_matches(of_kind, word) for word in words):
            return kind
    return None


def _matches(targets: Sequence[Target], word: str) -> bool:
    try:
        return bool(matching(targets, word))
    except SelectionError:
        return False
