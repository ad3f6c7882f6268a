"""Tests that the sampled responses of targets are shown as text."""

from __future__ import annotations

from httpbench.report.words.targets import render_responses
from tests.factories import make_response


def test_responses_are_shown_by_id_with_size_and_headers() -> None:
    text = render_responses({"b/b": make_response(192), "a/a": make_response(body="one\ntwo")})
    assert text.index("a/a: 152 bytes") < text.index("b/b: 192 bytes")
    assert "  Content-Type: text/plain\n" in text
    assert "  one\n  two" in text


def test_control_characters_in_responses_are_escaped() -> None:
    text = render_responses({"a/a": make_response(headers=(("Server", "\x1b]0;x\x07"),), body="\x1b[2J\rü\ttab")})
    assert "\x1b" not in text
    assert "\\u001b[2J\\rü\ttab" in text


def test_a_long_body_is_cut_with_a_note() -> None:
    text = render_responses({"a/a": make_response(body="x" * 10_000)})
    assert "… 8,000 more characters" in text
    assert len(text) < 3000
