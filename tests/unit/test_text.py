"""Tests that text from other programs is made safe to show."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from httpbench.text import one_line, printable
from tests.hostile import ALL, TEXTS, obeyed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, größer, 日本 🚀\tand\nlines", "plain, größer, 日本 🚀\tand\nlines"),
        ("\x1b[31m", "\\u001b[31m"),
        ("\x9b31m\x7f", "\\u009b31m\\u007f"),
        ("a\rb", "a\\rb"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("a\u2028b\u2029c\x85d", "a\\u2028b\\u2029c\\u0085d"),
        ("\udc9b", "\\udc9b"),
        ("\U000e0041", "\\udb40\\udc41"),
        ("::error::x\n  ::error::y", "\\u003a:error::x\n  \\u003a:error::y"),
        ("std::error at ::1", "std::error at ::1"),
        ("## heading, x ##[error]y ##vso[z]", "## heading, x #\\u0023[error]y #\\u0023vso[z]"),
    ],
)
def test_control_sequences_are_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_line_feed_within_a_sentence_is_escaped() -> None:
    assert one_line("a\nhint: b\x1b") == "a\\nhint: b\\u001b"


@given(TEXTS | st.text(st.characters(exclude_categories=())))
def test_escaped_text_is_harmless_and_escaping_is_idempotent(text: str) -> None:
    shown = printable(text)
    assert obeyed(shown) == []
    assert printable(shown) == shown
    assert "\n" not in one_line(text)


@settings(max_examples=30)
@given(st.recursive(TEXTS | st.text(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=5))
def test_json_keeps_its_meaning(value: object) -> None:
    assert json.loads(printable(json.dumps(value, indent=2, ensure_ascii=False))) == value


def test_the_hostile_test_text_would_control_a_terminal() -> None:
    assert len(obeyed(ALL)) >= 3
