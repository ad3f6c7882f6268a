"""Check bodies against published rules: those of TechEmpower's tests, and those of HttpArena's JSON test.

Each function returns the problems with one body, each as a phrase that fits into a sentence. This module is stricter than TechEmpower's own
program, because it also reports problems for which that program only prints a warning. Both accept keys and the message in upper or lower
case.

Sources: github.com/TechEmpower/FrameworkBenchmarks/wiki, "Framework Tests Overview"; github.com/MDA2AV/HttpArena, scripts/validate.sh.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from httpbench.http.response import Response
from httpbench.model import Expectation, Rule
from httpbench.text import one_line

MESSAGE = "Hello, World!"
ROWS = 10_000
"""Number of rows in the table World. Each row contains a random number from 1 to this number."""
SHOWN = 60
SAME_PROBLEMS_MAX = 3
"""Maximum number of problems to list for rows or items, because further problems are usually the same."""


def rule_problems(response: Response, expect: Expectation) -> list[str]:
    """Return the problems with a body under the workload's rule."""
    match expect.rule:
        case Rule.TEXT_MESSAGE:
            return _text_problems(response.body)
        case Rule.JSON_MESSAGE:
            return _of_json(response.body, _message_problems)
        case Rule.WORLD:
            return _of_json(response.body, world_problems)
        case Rule.WORLDS:
            return _of_json(response.body, lambda value: worlds_problems(value, expect.rows))
        case Rule.ITEMS:
            return _of_json(response.body, lambda value: _items_problems(value, expect.rows, expect.factor))
        case Rule.FORTUNES:
            from httpbench.http.fortunes import page_problems

            return _charset_problems(response) + page_problems(response.body)
        case None:
            return []


def world_problems(value: object) -> list[str]:
    """Return the problems with a row of the table World."""
    if not isinstance(value, dict):
        return [f"{_shown(value)} is not a JSON object"]
    row = lower_keys(value)
    if len(value) != 2 or set(row) != {"id", "randomnumber"}:
        return [f"an object with the keys {_keys(value)} instead of id and randomNumber"]
    wrong = [name for name in ("id", "randomNumber") if not _is_row_number(row[name.lower()])]
    return [f"{name} {_shown(row[name.lower()])} is not a whole number from 1 to {ROWS:,}" for name in wrong]


def worlds_problems(value: object, count: int | None) -> list[str]:
    """Return the problems with an array of rows of the table World. ``count`` is the required number of rows (``None``: any)."""
    if not isinstance(value, list):
        return [f"{_shown(value)} is not a JSON array"]
    found = [] if count in (None, len(value)) else [f"{len(value)} rows instead of {count}"]
    wrong = [f"row {number}: {problem}" for number, row in enumerate(value, 1) for problem in world_problems(row)]
    return found + _first(wrong, "rows")


def _items_problems(value: object, count: int | None, factor: int) -> list[str]:
    """Return the problems with a list of items in HttpArena's JSON test."""
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(items, list):
        return [f"{_shown(value)} is not a JSON object with an array of items"]
    found = [] if count in (None, len(items)) else [f"{len(items)} items instead of {count}"]
    if value.get("count") != len(items):
        found.append(f"count {_shown(value.get('count'))} instead of {len(items)}")
    wrong = [f"item {number}: {problem}" for number, item in enumerate(items, 1) for problem in _total_problems(item, factor)]
    return found + _first(wrong, "items")


def _total_problems(item: object, factor: int) -> list[str]:
    values = [item.get(name) for name in ("price", "quantity", "total")] if isinstance(item, dict) else []
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) != 3:
        return [f"{_shown(item)} is not a JSON object with price, quantity and total"]
    price, quantity, total = numbers
    expected = price * quantity * factor
    return [] if total == expected else [f"total {_shown(total)} instead of {_shown(expected)}"]


def _first(wrong: list[str], noun: str) -> list[str]:
    """Return the first problems, and a clause with the number of further problems."""
    more = len(wrong) - SAME_PROBLEMS_MAX
    return wrong[:SAME_PROBLEMS_MAX] + ([f"{more} more problems with {noun}"] if more > 0 else [])


def lower_keys(value: dict[str, Any]) -> dict[str, Any]:
    """Return the object with its keys in lower case, because the rules accept any case."""
    return {key.lower(): content for key, content in value.items()}


def _text_problems(body: bytes) -> list[str]:
    text = body.decode(errors="replace")
    return [] if text.lower() == MESSAGE.lower() else [f"body `{_cut(one_line(text))}` instead of `{MESSAGE}`, in any case"]


def _message_problems(value: object) -> list[str]:
    if not isinstance(value, dict):
        return [f"{_shown(value)} is not a JSON object"]
    row = lower_keys(value)
    if list(row) != ["message"]:
        return [f"an object with the keys {_keys(value)} instead of only message"]
    text = row["message"]
    return [] if isinstance(text, str) and text.lower() == MESSAGE.lower() else [f"message {_shown(text)} instead of `{MESSAGE}`"]


def _of_json(body: bytes, problems: Callable[[object], list[str]]) -> list[str]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return [f"the body `{_cut(one_line(body[: 2 * SHOWN].decode(errors='replace')))}` is not JSON"]
    return problems(value)


def _charset_problems(response: Response) -> list[str]:
    """Return a problem if the response doesn't declare UTF-8, which the page needs for its non-ASCII characters."""
    content_type = (response.header("content-type") or "").lower().replace(" ", "").replace('"', "")
    return [] if "charset=utf-8" in content_type else ["Content-Type without charset=utf-8"]


def _is_row_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= ROWS


def _keys(value: dict[str, Any]) -> str:
    return _cut(one_line(", ".join(value))) or "(none)"


def _shown(value: object) -> str:
    return f"`{_cut(one_line(json.dumps(value, ensure_ascii=False)))}`"


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
