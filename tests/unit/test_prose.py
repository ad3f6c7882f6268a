"""Tests of the language of the documentation: one word for each term of docs/glossary.md, American spelling, and short sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    ROOT / "crates/loadgen/README.md",
    ROOT / "targets/README.md",
]
OF_FRAGMENTS = {"CHANGELOG.md", "targets/README.md", "docs/cli.md"}
"""Pages without whole sentences: a list of changes, and generated tables."""
WORDS_MAX = 30
"""Maximum number of words in a sentence."""
WORD = re.compile(r"\b[\w'/.%-]+\b")
CODE = "□"
"""Stands for a piece of code, which counts as no word."""
SENTENCE_END = re.compile(r"(?<=[.!?])[\")']*\s+")
INSTEAD = {
    r"behaviour": "behavior",
    r"catalogues?": "catalog",
    r"colours?": "color",
    r"favour": "favor",
    r"licence": "license",
    r"load machines?": "load host",
    r"load testers?": "load generator",
    r"neighbours?": "neighbor",
    r"open-loop load": "open loop",
    r"randomised": "randomized",
    r"recognise": "recognize",
    r"summarise": "summarize",
    r"(?<!-)warmup": "warm-up",
    r"after this page|(?:is|are|was|were) (?:said|told)|of ours|what is not|what others did|who watches|so that what|those of whom": (
        "the actor, said plainly"
    ),
}
"""What to write instead of each pattern, which matches whole words in any case."""
QUOTES = re.compile("[«»‹›]")


def passages(markdown: str) -> Iterator[tuple[int, str]]:
    """Yield each paragraph, heading, list item and table cell with the number of its line. Code blocks are left out."""
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        if token.type == "inline" and token.map is not None:
            yield token.map[0] + 1, "".join(_text(child) for child in token.children or ())


def _text(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return CODE if token.type == "code_inline" else token.content if token.type == "text" else ""


def problems(markdown: str, *, has_sentences: bool = True) -> Iterator[str]:
    for line, passage in passages(markdown):
        for pattern, better in INSTEAD.items():
            for found in re.finditer(rf"\b(?:{pattern})\b", passage, re.IGNORECASE):
                yield f"{line}: write {better} instead of {found[0]!r}"
        if quote := QUOTES.search(passage):
            yield f'{line}: use "..." for quotations and backticks for code, not {quote[0]}'
        for sentence in SENTENCE_END.split(passage):
            if has_sentences and len(WORD.findall(sentence)) > WORDS_MAX:
                yield f"{line}: shorten this sentence to at most {WORDS_MAX} words: {sentence}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_follow_the_style(page: Path) -> None:
    found = problems(page.read_text(encoding="utf-8"), has_sentences=str(page.relative_to(ROOT)) not in OF_FRAGMENTS)
    assert [f"{page.relative_to(ROOT)}:{problem}" for problem in found] == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n\nIts Behaviour is", "3: write behavior"),
        ("| a |\n|---|\n| the load machine |", "3: write load host"),
        ("this is told «here»", "1: write the actor"),
        ("«here»", "1: use"),
        ("word " * 30 + "and `code`.", "1: shorten"),
        ("An end. " + "Word " * 31, "1: shorten"),
    ],
)
def test_a_problem_is_found(text: str, line: str) -> None:
    assert next(problems(text)).startswith(line)


@pytest.mark.parametrize("text", ["`behaviour`", "```\ncolour\n```", "--warmup", "word " * 15 + "end. " + "Word " * 16])
def test_code_and_short_sentences_are_no_problem(text: str) -> None:
    assert list(problems(text)) == []
