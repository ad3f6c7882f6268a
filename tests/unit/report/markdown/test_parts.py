"""Tests that escaped text is shown unchanged, and that GitHub neither mentions nor links anything in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from httpbench.report.markdown.parts import escape, pipe_table

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
SHOWN_AS_TEXT = {"p", "br", "span", "table", "thead", "tbody", "tr", "th", "td"}
ACTIVE = re.compile(r"[@#]\w|GH-\d|https?://|www\.|\$.*\$", re.IGNORECASE)


class Shown(HTMLParser):
    """The texts of a page, split at its tags and comments."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = [""]
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        self.texts.append("\n" if tag == "br" else "")

    def handle_endtag(self, tag: str) -> None:
        self.texts.append("")

    def handle_comment(self, data: str) -> None:
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        self.texts[-1] += data


@given(st.text(st.sampled_from("ab 1@#$_~*`[]()<>&|\\:/.-!\nGHw"), max_size=30))
def test_escaped_text_is_shown_unchanged(text: str) -> None:
    text = f"x{text}x"  # only spaces at the ends of a line get lost
    shown = Shown(MARKDOWN.render("\n".join(pipe_table(["name"], [False], [[text]]))))
    assert shown.tags <= SHOWN_AS_TEXT
    assert "".join(shown.texts).split() == ["name", *text.split()]


@pytest.mark.parametrize("text", ["@name", "a@b.example", "#1", "a/b#1", "GH-1", "https://a.example", "www.a.example", "$x$", "@a @b"])
def test_github_mentions_and_links_nothing(text: str) -> None:
    assert ACTIVE.search(text)
    texts = Shown(MARKDOWN.render(escape(text))).texts
    assert "".join(texts).strip() == text
    assert not [part for part in texts if ACTIVE.search(part)], texts


def test_names_with_underscores_stay_readable() -> None:
    assert escape("c/io_uring (http_1)") == "c/io_uring (http_1)"
