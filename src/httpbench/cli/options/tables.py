"""Options of verbs that show tables: which columns, and how much is explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from httpbench.cli.options.fields import option
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from httpbench.report import View


class Names(click.ParamType[tuple[str, ...]]):
    """``target,rps,p99``. What is a name depends on the table, so it is checked when that is known."""

    name = "name[,name…]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        names = tuple(filter(None, (name.strip() for name in value.split(","))))
        if not names:
            self.fail(f"«{value}» names no column; write it as target,rps,p99", param, ctx)
        return names


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What a reader asks to see."""

    wide: bool = option("--wide", is_flag=True, help="Show every column of the tables.")
    columns: tuple[str, ...] | None = option(
        "--columns",
        type=Names(),
        metavar="NAME[,NAME…]",
        default_text="as many as fit 80 characters",
        help="Show these columns, such as target,rps,p99. docs/reports.md lists the names.",
    )
    explain: bool = option("--explain", is_flag=True, help="Explain figures, verdicts and marks below the tables.")

    def view(self, known: Sequence[str]) -> View:
        """``known``: names of the columns that the tables may have. Raises :class:`UsageError` for another name."""
        from httpbench.report import View

        if self.wide and self.columns:
            raise UsageError("--wide and --columns cannot be combined", hint="use one of them")
        wrong = [name for name in self.columns or () if name not in known]
        if wrong:
            raise UsageError(f"no column is called {', '.join(wrong)} in this table", hint=f"columns: {', '.join(known)}")
        return View(wide=self.wide, names=self.columns or (), explain=self.explain)
