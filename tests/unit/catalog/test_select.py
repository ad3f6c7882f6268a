"""Tests for the selection of targets by word."""

from __future__ import annotations

import pytest

from httpbench.catalog import kind_of, select
from httpbench.errors import SelectionError
from httpbench.model import Category, Kind
from tests.factories import TARGETS


def ids(*words: str, **options: object) -> list[str]:
    return [target.id for target in select(TARGETS, words, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["c/epoll/level"], ["c/epoll/level"]),
        (["c/epoll"], ["c/epoll/level", "c/epoll/edge"]),
        (["epoll/level"], ["c/epoll/level", "dlang/epoll/level"]),
        (["golang"], ["golang/fasthttp", "golang/net-http", "client:golang/http-client"]),
        (["nginx", "fasthttp"], ["c/nginx", "golang/fasthttp"]),
        (["micro"], ["c/epoll/level", "c/epoll/edge", "dlang/epoll/level"]),
        (["fast"], ["golang/fasthttp"]),
        (["haproxy"], ["proxy:c/haproxy"]),
        (["client:golang"], ["client:golang/http-client"]),
        (["c"], ["c/epoll/level", "c/epoll/edge", "c/nginx", "proxy:c/haproxy"]),
    ],
)
def test_words_select_targets(words: list[str], expected: list[str]) -> None:
    assert ids(*words) == expected


def test_no_word_selects_all_of_a_kind() -> None:
    assert ids(kind=Kind.PROXY) == ["proxy:c/haproxy"]
    assert len(ids()) == len(TARGETS)


def test_options_narrow_the_selection() -> None:
    assert ids("c", ignore=["edge"], kind=Kind.SERVER) == ["c/epoll/level", "c/nginx"]
    assert ids(languages=["c"], categories=[Category.MICRO]) == ["c/epoll/level", "c/epoll/edge"]


def test_an_empty_selection_is_an_error() -> None:
    with pytest.raises(SelectionError, match=r'"nginks" matches no target \(did you mean "nginx"\?\)'):
        ids("nginks")
    with pytest.raises(SelectionError, match="no target matches all options"):
        ids("nginx", ignore=["c"])
    with pytest.raises(SelectionError, match=r'"goland" \(did you mean "golang"\?\)'):
        ids(languages=["goland"])


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ([], Kind.SERVER),
        (["golang"], Kind.SERVER),
        (["http-client"], Kind.CLIENT),
        (["client:golang", "golang"], Kind.CLIENT),
        (["c", "haproxy"], Kind.PROXY),
        (["nginx", "haproxy"], None),
        (["nginks"], None),
    ],
)
def test_a_run_uses_the_first_kind_with_a_target_for_each_word(words: list[str], kind: Kind | None) -> None:
    assert kind_of(TARGETS, words) is kind
