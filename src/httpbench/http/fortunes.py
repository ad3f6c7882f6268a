"""Check the page of TechEmpower's test `fortunes`.

A framework reads twelve rows, adds one row, sorts all rows by message, and escapes HTML's special characters. Attributes, whitespace
between elements and the form of escapes may vary. The check compares all rows, so it detects rows that are missing, unsorted or not
escaped.
"""

from __future__ import annotations

from html.parser import HTMLParser

MESSAGES = {
    1: "fortune: No such file or directory",
    2: "A computer scientist is someone who fixes things that aren't broken.",
    3: "After enough decimal places, nobody gives a damn.",
    4: "A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1",
    5: "A computer program does what you tell it to do, not what you want it to do.",
    6: "Emacs is a nice operating system, but I prefer UNIX. — Tom Christaensen",
    7: "Any program that runs right is obsolete.",
    8: "A list is only as strong as its weakest link. — Donald Knuth",
    9: "Feature: A bug with seniority.",
    10: "Computers make very fast, very accurate mistakes.",
    11: '<script>alert("This should not be displayed in a browser alert box.");</script>',
    12: "フレームワークのベンチマーク",
}
"""Messages in TechEmpower's Fortune table, by id."""

ADDED = (0, "Additional fortune added at request time.")
SCRIPT_ID = 11
ROWS = tuple(sorted([ADDED, *MESSAGES.items()], key=lambda row: row[1]))
"""Rows of the page: id and message, sorted by message."""

FRAME = ("html", "head", "title", "/title", "/head", "body", "table", "/table", "/body", "/html")
HEADINGS = ("id", "message")
OPTIONAL = ("meta", "link", "thead", "tbody")
"""Elements that may be missing or occur anywhere."""


def page_problems(body: bytes) -> list[str]:
    """Return all problems with a page, each as a clause."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return ["a page that is not UTF-8"]
    page = _Page()
    page.feed(text)
    page.close()
    return [*_frame_problems(page), *_row_problems(page)]


class _Page(HTMLParser):
    """A parser that collects the parts of a page that :func:`page_problems` checks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.declaration = ""
        self.frame: list[str] = []
        """The tags outside the rows, in order."""
        self.title = ""
        self.headings: list[str] = []
        self.rows: list[list[str]] = []
        """Texts of the cells of each row."""
        self.unexpected: list[str] = []
        """Elements and text that don't belong in a page of fortunes."""
        self.has_script_in_cell = False
        self._within: str | None = None
        self._is_ignored = False

    def handle_decl(self, decl: str) -> None:
        self.declaration = decl.lower()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.has_script_in_cell = self.has_script_in_cell or self._within == "td"
            self._is_ignored = True
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self._within = tag
            (self.headings if tag == "th" else self._cells()).append("")
        elif tag in FRAME:
            self.frame.append(tag)
            self._within = "title" if tag == "title" else None
        elif tag not in OPTIONAL:
            self.unexpected.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._is_ignored = False
        elif f"/{tag}" in FRAME:
            self.frame.append(f"/{tag}")
        if tag in ("td", "th", "title"):
            self._within = None

    def handle_data(self, data: str) -> None:
        if self._is_ignored:
            return
        if self._within == "td":
            self._cells()[-1] += data
        elif self._within == "th":
            self.headings[-1] += data
        elif self._within == "title":
            self.title += data
        elif data.strip():
            self.unexpected.append("text outside the table")

    def _cells(self) -> list[str]:
        if not self.rows:
            self.rows.append([])
        return self.rows[-1]


def _frame_problems(page: _Page) -> list[str]:
    holds = {
        "a page that does not begin with <!doctype html>": page.declaration == "doctype html",
        "a page that is not one table in html, head, title and body": tuple(page.frame) == FRAME,
        "a title other than `Fortunes`": page.title == "Fortunes",
        "headings other than id and message": tuple(page.headings) == HEADINGS,
    }
    found = [problem for problem, is_fine in holds.items() if not is_fine]
    return found + [f"unexpected in the page: {thing}" for thing in dict.fromkeys(page.unexpected)]


def _row_problems(page: _Page) -> list[str]:
    if page.has_script_in_cell:
        return [f"fortune {SCRIPT_ID} is not escaped: a browser would run its message as a script"]
    rows = [tuple(row) for row in page.rows if row]
    expected = [(str(number), message) for number, message in ROWS]
    if rows == expected:
        return []
    if sorted(rows) == sorted(expected):
        return ["rows that are not sorted by message"]
    missing = [number for number, message in expected if (number, message) not in rows]
    surplus = len([row for row in rows if row not in expected])
    found = [f"no correct row {', '.join(missing)}"] if missing else []
    found += [f"{surplus} rows that are not fortunes"] if surplus else []
    return found or [f"{len(rows)} rows instead of {len(expected)}"]
