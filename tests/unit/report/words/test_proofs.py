"""Tests of the words that describe the proof that a target works."""

from __future__ import annotations

import pytest

from httpbench.model import Proof, Scaling
from httpbench.report.markdown.targets import render_targets
from httpbench.report.words.targets import proof_words
from tests.factories import make_proof, make_target

TARGET = make_target("c/a", scaling=(Scaling.SINGLE, Scaling.MULTI))
NOW = make_proof("c/a").sources or ""


@pytest.mark.parametrize(
    ("proof", "words"),
    [
        (None, "never built"),
        (make_proof("c/a"), "verified 2026-11-22 on Debian GNU/Linux 12 (bookworm)"),
        (
            make_proof("c/a", scaling=(Scaling.SINGLE,)),
            "verified 2026-11-22 on Debian GNU/Linux 12 (bookworm), single only",
        ),
        (
            make_proof("c/a", sources="ffffffffffff"),
            "verified 2026-11-22 on Debian GNU/Linux 12 (bookworm), before its sources changed",
        ),
        (make_proof("c/a", sources=None), "verified 2026-11-22 on Debian GNU/Linux 12 (bookworm), sources not recorded"),
        (make_proof("c/a", scaling=()), "built and not verified: failed 2026-11-22 on Debian GNU/Linux 12 (bookworm)"),
    ],
)
def test_proof_words_say_what_was_verified_and_what_was_not(proof: Proof | None, words: str) -> None:
    assert proof_words(TARGET, proof, NOW) == words


def test_the_page_of_targets_shows_proof_toolchain_and_note() -> None:
    page = render_targets([TARGET, make_target("c/b")], {"c/a": make_proof("c/a", note="One clause is newer.")}, {"c/a": NOW, "c/b": NOW})
    assert "  Verified 2026-11-22 on Debian GNU/Linux 12 (bookworm). Toolchain: gcc 12.2.0.\n  One clause is newer.\n" in page
    assert "  Never built.\n" in page
