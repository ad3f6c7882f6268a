"""A table for a terminal of a given width.

If the columns don't fit, titles and names are shortened first. If that isn't enough, names are cut, and then the least needed columns are
omitted. A column of bars fills the remaining space.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from httpbench.report.words import ALWAYS

GAP = 2
"""Number of spaces between columns."""

BAR_MIN, BAR_MAX = 6, 16
NAME_MIN = 10
"""Minimum number of characters that remain when a name is cut."""
EIGHTHS = " ▏▎▍▌▋▊▉"
BEYOND = "»"
"""End of a bar that is cut off."""
OUTLIER = 5
"""Minimum ratio of the longest length to the second longest at which its bar is cut off."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """One column of cell texts."""

    title: str
    unit: str
    texts: Sequence[Text]
    need: int
    """How soon a narrow terminal omits the column. The highest value is omitted first, and ``ALWAYS`` is never omitted."""
    is_number: bool = True
    short: str = ""
    """Title on a narrow terminal. If empty, ``title`` is used."""
    names: Sequence[str] = ()
    """Shorter forms of the cell texts. If empty, the column is never shortened or cut."""
    folds_at: int = 0
    """Minimum width, in characters, of a column whose text can wrap. If 0, the text never wraps."""
    lengths: Sequence[float | None] = ()
    """Values that the bars represent. If empty, the column has no bars. A row whose value is ``None`` has no bar."""

    @property
    def is_filled(self) -> bool:
        """Whether at least one cell has content."""
        return any(self.lengths) or any(text.plain for text in self.texts)

    @property
    def width(self) -> int:
        """Width of the widest line, or 0 for a column of bars."""
        if self.lengths:
            return 0
        widest = max([cell_len(self.title), cell_len(self.unit), *(text.cell_len for text in self.texts)])
        return min(widest, self.folds_at) if self.folds_at else widest

    def narrow(self) -> Cells:
        """Return the column with its short title and its short names."""
        texts = [_renamed(text, name) for text, name in zip(self.texts, self.names, strict=True)] if self.names else self.texts
        return replace(self, title=self.short or self.title, texts=texts)

    def cut(self, width: int) -> Cells:
        """Return the column with its names cut to at most ``width`` characters."""
        return replace(self, texts=[_renamed(text, shortened(text.plain, width)) for text in self.texts])

    def drawn(self, width: int) -> Cells:
        """Return the column with each length drawn as a bar."""
        longest = _scale([length for length in self.lengths if length])
        shares = [None if length is None else length / longest for length in self.lengths]
        return replace(self, texts=[Text(bar(share, width), style="cyan") for share in shares], lengths=())


def column(
    title: str, texts: Iterable[str], need: int = ALWAYS, *, unit: str = "", is_number: bool = False, short: str = "", folds_at: int = 0
) -> Cells:
    """Make a column of plain text."""
    return Cells(title, unit, [Text(text) for text in texts], need, is_number=is_number, short=short, folds_at=folds_at)


def names_column(title: str, ids: Sequence[str]) -> Cells:
    """Make a column of target ids, which a narrow terminal shortens."""
    return Cells(title, "", [Text(name) for name in ids], ALWAYS, is_number=False, names=brief_names(ids))


def fitted(columns: Sequence[Cells], width: int, advice: str = "") -> list[RenderableType]:
    """Return a table of the columns that fit, followed by a line that lists the omitted columns and ends with ``advice``."""
    laid, left_out = fit(columns, width)
    parts: list[RenderableType] = [grid(laid, width)] if laid else []
    if names := ", ".join(filter(None, (column.title for column in left_out))):
        parts.append(Text(f"Not shown at this width: {names}.{advice}", style="dim", overflow="fold"))
    return parts


def fit(columns: Sequence[Cells], width: int) -> tuple[list[Cells], list[Cells]]:
    """Split columns into those that fit and those that don't. Empty columns are in neither list."""
    shown = [column for column in columns if column.is_filled]
    left_out: list[Cells] = []
    while (laid := _laid(shown, width)) is None:
        least = max(shown, key=lambda column: column.need)
        if least.need == ALWAYS:
            laid = [column.narrow() for column in shown if not column.lengths]  # the table is still too wide, so the texts of cells wrap
            break
        shown.remove(least)
        left_out.append(least)
    return laid, [column for column in columns if column in left_out]


def grid(columns: Sequence[Cells], width: int) -> Table:
    """Make a table of the columns that :func:`fit` returned."""
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
    fits = _spare(columns, width) >= 0
    has_units = any(column.unit for column in columns)
    for column in columns:
        header = Text(column.title)
        if has_units:
            header.append(f"\n{column.unit}", style="not bold dim")
        is_whole = fits and not column.folds_at
        table.add_column(header, justify="right" if column.is_number else "left", overflow="fold", no_wrap=is_whole)
    for cells in zip(*(column.texts for column in columns), strict=True):
        table.add_row(*cells)
    return table


def _scale(lengths: Sequence[float]) -> float:
    """Return the length of a full bar: the longest length, or the second longest if the longest is an outlier.

    If an outlier had a full bar, all other bars would be too short to compare.
    """
    ordered = sorted(lengths, reverse=True)
    if len(ordered) > 2 and ordered[0] > OUTLIER * ordered[1]:
        return ordered[1]
    return ordered[0] if ordered else 1.0


def bar(share: float | None, width: int) -> str:
    """Draw a bar of at most ``width`` characters in steps of 1/8. A share above zero always produces a visible bar.

    A bar with a share above one is cut off, and ends with a mark.
    """
    if not share:
        return ""
    if share > 1:
        return "█" * (width - 1) + BEYOND
    full, rest = divmod(max(round(share * width * 8), 1), 8)
    return ("█" * full + EIGHTHS[rest]).rstrip()


def shortened(name: str, width: int) -> str:
    """Cut the middle of a name that is longer than ``width``, because names differ at both ends."""
    if cell_len(name) <= width:
        return name
    tail = width // 2
    return f"{name[: width - tail - 1]}…{name[-tail:]}"


def brief_names(ids: Sequence[str]) -> list[str]:
    """Remove the kind and the language, as in ``epoll/level`` for ``c/epoll/level``, unless that makes names ambiguous."""
    own = {target: target.removeprefix("client:").removeprefix("proxy:") for target in ids}
    rests = {name: name.partition("/")[2] or name for name in own.values()}
    used = Counter(rests.values())
    brief = {target: rests[name] if used[rests[name]] == 1 else name for target, name in own.items()}
    return [brief[target] for target in ids] if _are_distinct(brief) else list(ids)


def _laid(columns: Sequence[Cells], width: int) -> list[Cells] | None:
    """Return the columns in the longest form that fits: unchanged, with short names, or with cut names. If none fits, return ``None``."""
    narrow = [column.narrow() for column in columns]
    for found in (columns, narrow, _cut(narrow, width)):
        spare = _spare(found, width)
        if spare >= (BAR_MIN if any(column.lengths for column in found) else 0):
            return [column.drawn(min(spare, BAR_MAX)) if column.lengths else column for column in found]
    return None


def _cut(columns: Sequence[Cells], width: int) -> Sequence[Cells]:
    """Cut names so that the columns fit. A column whose names would become too short or ambiguous stays as it is."""
    missing = (BAR_MIN if any(column.lengths for column in columns) else 0) - _spare(columns, width)
    return [_cut_names(column, column.width - missing) if column.names else column for column in columns]


def _cut_names(column: Cells, width: int) -> Cells:
    """Cut the names of a column, unless they would become too short or ambiguous."""
    cut = column.cut(width)
    pairs = zip((text.plain for text in column.texts), (text.plain for text in cut.texts), strict=True)
    return cut if width >= NAME_MIN and _are_distinct(dict(pairs)) else column


def _are_distinct(renamed: Mapping[str, str]) -> bool:
    return len({*renamed.values()}) == len(renamed)


def _spare(columns: Sequence[Cells], width: int) -> int:
    """Return the number of characters that the columns leave free, not counting bars."""
    return width - sum(column.width for column in columns) - GAP * (len(columns) - 1)


def _renamed(text: Text, name: str) -> Text:
    return Text(name, style=text.style)
