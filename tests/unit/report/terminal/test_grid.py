"""Tests that tables are fitted to the width of a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from httpbench.report.terminal.grid import BAR_MAX, BAR_MIN, NAME_MIN, Cells, bar, brief_names, fit, shortened
from httpbench.report.words import ALWAYS

NAMES = ["python/gunicorn-meinheld", "golang/fasthttp"]


def figures(title: str, need: int = 0, width: int = 6, short: str = "") -> Cells:
    return Cells(title, "ms", [Text("9" * width), Text("1")], need, short=short)


def names() -> Cells:
    return Cells("Target", "", [Text(name) for name in NAMES], 0, is_number=False, names=brief_names(NAMES))


def bars() -> Cells:
    return Cells("", "", [Text(), Text()], 20, is_number=False, lengths=[200.0, 50.0])


def titles(columns: list[Cells]) -> list[str]:
    return [column.title for column in columns]


def test_a_bar_fills_the_remaining_width_up_to_a_limit() -> None:
    wide, _ = fit([names(), bars()], 200)
    assert [text.plain for text in wide[1].texts] == ["█" * BAR_MAX, "█" * (BAR_MAX // 4)]
    narrow, _ = fit([names(), bars()], 24 + 2 + 8)
    assert [text.plain for text in narrow[1].texts] == ["█" * 8, "██"]


def test_titles_and_names_are_shortened_before_columns_are_omitted() -> None:
    laid, left_out = fit([names(), figures("Memory", 6, 3, short="Mem"), bars()], 17 + 2 + 3 + 2 + BAR_MIN)
    assert titles(laid) == ["Target", "Mem", ""]
    assert [text.plain for text in laid[0].texts] == ["gunicorn-meinheld", "fasthttp"]
    assert left_out == []


def test_names_are_cut_in_the_middle_before_columns_are_omitted() -> None:
    laid, left_out = fit([names(), figures("p99")], 12 + 2 + 6)
    assert [text.plain for text in laid[0].texts] == ["gunic…inheld", "fasthttp"]
    assert left_out == []


def test_the_least_needed_columns_are_omitted_and_returned_in_order() -> None:
    laid, left_out = fit([figures("a", 2), figures("b"), figures("c", 9), figures("d", 1)], 14)
    assert (titles(laid), titles(left_out)) == (["b", "d"], ["a", "c"])


def test_empty_columns_are_neither_shown_nor_listed_as_omitted() -> None:
    empty = Cells("empty", "ms", [Text(), Text()], 1)
    none = Cells("", "", [Text(), Text()], 20, lengths=[None, None])
    assert titles(fit([empty, figures("a"), none], 80)[0]) == ["a"]
    assert fit([empty, none], 80) == ([], [])


def test_a_name_keeps_enough_characters() -> None:
    laid, left_out = fit([names(), figures("a", 1), figures("b", 2)], NAME_MIN + 2 + 6)
    assert (titles(laid), titles(left_out)) == (["Target", "a"], ["b"])


@given(st.floats(0, 1), st.integers(1, 40))
def test_the_length_of_a_bar_is_proportional_to_its_share(share: float, width: int) -> None:
    drawn = bar(share, width)
    assert cell_len(drawn) <= width
    assert abs(cell_len(drawn) - share * width) <= 1
    assert bool(drawn) == (share > 0)


def test_an_outlier_does_not_shorten_the_other_bars() -> None:
    def drawn(*lengths: float) -> list[str]:
        cells = Cells("", "", [Text() for _ in lengths], 1, is_number=False, lengths=lengths)
        return [text.plain for text in cells.drawn(8).texts]

    assert drawn(100.0, 4.0, 2.0) == ["███████»", "████████", "████"]
    assert drawn(16.0, 4.0, 2.0) == ["████████", "██", "█"], "not an outlier"
    assert drawn(100.0, 4.0)[0] == "████████", "two bars show their ratio"


def test_a_missing_value_has_no_bar() -> None:
    assert bar(None, 10) == ""


@pytest.mark.parametrize("width", range(3, 30))
def test_a_cut_name_fills_the_width_and_keeps_both_ends(width: int) -> None:
    cut = shortened("c/epoll/level-triggered", width)
    assert len(cut) == min(width, 23)
    assert cut[0] == "c"
    assert cut[-1] == "d"


def test_brief_names_drop_the_language_unless_ambiguous() -> None:
    assert brief_names(["c/nginx", "golang/gin"]) == ["nginx", "gin"]
    assert brief_names(["c/epoll/level", "dlang/epoll/level", "c/nginx"]) == ["c/epoll/level", "dlang/epoll/level", "nginx"]
    assert brief_names(["c/nginx", "c/nginx", "golang/gin"]) == ["nginx", "nginx", "gin"]
    assert brief_names(["old", "new"]) == ["old", "new"]


def test_brief_names_of_clients_and_proxies_drop_the_kind() -> None:
    assert brief_names(["client:python/requests", "client:c/curl"]) == ["requests", "curl"]
    assert brief_names(["proxy:golang/http-client", "proxy:python/http-client"]) == ["golang/http-client", "python/http-client"]


NAME = st.text("abc/:", min_size=1, max_size=6)


@given(st.lists(st.one_of(NAME, NAME.map("client:{}".format), NAME.map("proxy:{}".format)), max_size=8))
def test_brief_names_stay_distinct(ids: list[str]) -> None:
    brief = brief_names(ids)
    assert len(set(zip(ids, brief, strict=True))) == len(set(ids)) == len(set(brief))


def test_names_that_would_become_ambiguous_are_not_cut() -> None:
    long = [Text("framework/a/http-client"), Text("framework/b/http-client")]
    column = Cells("Target", "", long, ALWAYS, is_number=False, names=[text.plain for text in long])
    laid, left_out = fit([column, figures("a", 1), figures("b", 2)], 23 + 2 + 6)
    assert [text.plain for text in laid[0].texts] == [text.plain for text in long]
    assert (titles(laid), titles(left_out)) == (["Target", "a"], ["b"])
