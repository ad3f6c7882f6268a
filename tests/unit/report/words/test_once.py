"""Tests that similar sentences from several rounds are joined into one."""

from __future__ import annotations

from httpbench.report.words.once import Said, family, once


def test_sentences_that_differ_only_in_numbers_are_joined() -> None:
    texts = ["1,032 requests timed out", "bodies are not checked", "9 requests timed out", "9 requests timed out"]
    assert once(texts) == [Said("9 to 1,032 requests timed out", 3, varies=True), Said("bodies are not checked", 1, varies=False)]


def test_counts_at_the_end_are_merged_by_name() -> None:
    texts = ["0.64% of requests failed (connect timeout 12, timeout 77)", "0.14% of requests failed (timeout 18)"]
    (said,) = once(texts)
    assert said.text == "0.14 to 0.64% of requests failed (connect timeout 12, timeout 18 to 77)"
    assert family(texts[0]) == family(texts[1])


def test_other_parentheses_are_part_of_the_sentence() -> None:
    assert len(once(["it died (exit code 3)", "it died (killed by signal SIGKILL)"])) == 2
