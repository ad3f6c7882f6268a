"""Tests of the options that select the columns of a table."""

from __future__ import annotations

import click
import pytest

from httpbench.cli.options.output import TableOptions
from httpbench.cli.options.params import COLUMNS
from httpbench.errors import UsageError
from httpbench.model import Table
from httpbench.report.words.columns import View
from httpbench.report.words.columns import names as column_names

KNOWN = column_names(Table.HTTP_SERVERS)


def test_an_unknown_column_is_refused_with_a_list_of_columns() -> None:
    with pytest.raises(UsageError) as refused:
        TableOptions(wide=False, columns=("rps", "p98"), explain=False).view(KNOWN)
    assert refused.value.message == "this table has no column p98"
    assert refused.value.hint == f"columns: {', '.join(KNOWN)}"


def test_every_column_and_some_columns_cannot_be_combined() -> None:
    with pytest.raises(UsageError, match="cannot be combined"):
        TableOptions(wide=True, columns=("rps",), explain=False).view(KNOWN)


def test_options_select_the_view() -> None:
    assert TableOptions(wide=False, columns=("rps", "p99"), explain=True).view(KNOWN) == View(names=("rps", "p99"), explain=True)
    assert TableOptions(wide=True, columns=None, explain=False).view(KNOWN) == View(wide=True)


def test_names_are_separated_by_commas() -> None:
    assert COLUMNS.convert("target, rps,p99", None, None) == ("target", "rps", "p99")
    with pytest.raises(click.BadParameter, match="names no column"):
        COLUMNS.convert(",", None, None)
